#!/usr/bin/env python3
"""symbol_files.py CASE --prof PROF --undump UNDUMP --fixture FOLDER: which names do the addresses of a log get from
files that are whole, in another place, of another build, damaged or missing? The log is made here: six launches from
addresses of a library of tests/unit/analyzer/symbols/symbols_fixture. The test compares each address's text, and
expects each note once per module."""
import argparse
import csv
import ctypes.util
import hashlib
import http.server
import io
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import zlib

SKIPPED = 77
BASE = 0x7F0000000000
LOG = """prof-log-text 1
header pid=42 clock=0 start_tick=1000000 start_monotonic_ns=1000000 start_realtime_ns=1700000000000000000
page finished=9000000
block definitions thread=1
meta key="executable" value="/opt/app"
meta key="stacks" value="launch"
api id=1 name="cuLaunchKernel"
string id=1 total_bytes=6 offset=0 text="kernel"
{strings}
function id=1 name=1 module=1 handle=4096 generation=0
config id=1 api=1 function=1 grid_x=1 grid_y=1 grid_z=1 block_x=32 block_y=1 block_z=1 shared_bytes=0 attributes=0
device ordinal=0 name="GPU" uuid="00112233445566778899aabbccddeeff"
context id=1 handle=1 device=0 gpu_context=1
stream id=1 context=1 handle=0 type=0 gpu_stream=8 flags=0 priority=0
{images}
{stacks}
block events thread=1
thread thread=1 tid=42 first_tick=1100000 name="app"
{launches}
thread_end time=1900000
"""


def elf(path):
    """(build-id, {symbol: (address, size)}, {section: (offset, size)})"""
    notes = subprocess.run(["readelf", "-nWS", path], capture_output=True, text=True).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)
    sections = {m[1]: (int(m[2], 16), int(m[3], 16)) for m in re.finditer(r"\] (\S+)\s+\S+\s+[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", notes)}
    symbols = {}
    for line in subprocess.run(["nm", "-S", "--defined-only", path], capture_output=True, text=True).stdout.splitlines():
        if match := re.match(r"([0-9a-f]+) ([0-9a-f]+) [tTwW] (\S+)", line):
            symbols[match[3]] = (int(match[1], 16), int(match[2], 16))
    return build_id[1] if build_id else "", symbols, sections


class Case:
    """A scratch folder, and prof's output for a log in it."""

    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        self.fixture = pathlib.Path(options.fixture)
        self.whole = self.fixture / "libwhole.so"
        self.use(self.whole)
        source = (pathlib.Path(__file__).parent.parent / "unit/analyzer/symbols/symbols_fixture/code.cpp").read_text().splitlines()
        self.lines = {line.split("// @ ")[1]: number for number, line in enumerate(source, 1) if "// @ " in line}
        self.wrong = []

    def use(self, path):
        """Symbols and launches are those of this file."""
        self.build_id, self.symbols, self.sections = elf(path)
        # A return address inside each function, and the two addresses of the one that has two.
        self.addresses = []
        for name in ("plain_c_function", "_ZN7fixture5twiceIiEET_S1_", "_ZN7fixture5twiceIdEET_S1_"):
            begin, size = self.symbols[name]
            self.addresses += [begin + size // 2, begin + size // 2 + 1]

    def copy(self, name, to=None):
        to = self.folder / (to or name)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.fixture / name, to)
        return to

    def log(self, modules, with_images=True):
        """One launch from each address of each module; modules: path → build-id."""
        strings, images, stacks, launches = [], [], [], []
        for number, (path, build_id) in enumerate(modules.items(), 1):
            base = BASE + number * 0x1000000
            strings.append(f'string id={number + 1} total_bytes={len(str(path))} offset=0 text="{path}"')
            if with_images:
                size, changed = (os.path.getsize(path), int(os.path.getmtime(path))) if os.path.exists(path) else (0, 0)
                images.append(f'image id={number} generation=0 base={base} begin={base} end={base + 0x100000} path={number + 1} '
                              f'build_id="{build_id}" file_bytes={size} file_time={changed}')
            for address in self.addresses:
                stacks.append(f"stack id={len(stacks) + 1} generation=0 native=[{base + address}] python=[]")
                launches.append(f"kernel_launch end={1110000 + 1000 * len(stacks)} duration=500 config=1 stream=1 depth=0 stack={len(stacks)}")
        text = LOG.format(strings="\n".join(strings), images="\n".join(images), stacks="\n".join(stacks), launches="\n".join(launches))
        (self.folder / "log.txt").write_text(text)
        subprocess.run([self.options.undump, self.folder / "log.txt", self.folder / "app.plog"], check=True)
        return self.folder / "app.plog"

    def ask(self, log, *words, environment=None):
        """({frame: launches}, right | none | the wrong lines, notes)"""
        run = {**os.environ, "PROF_SYMBOL_CACHE": "off", "DEBUGINFOD_URLS": "", **(environment or {})}
        frames, sources = {}, {}
        done = subprocess.run([self.options.prof, "report", "stacks", "--metric", "launches", "--format", "folded", *words, log],
                              capture_output=True, text=True, env=run)
        notes = [line.removeprefix("prof: ") for line in done.stderr.splitlines() if "coverage" not in line]
        if done.returncode != 0:
            self.wrong.append(f"status {done.returncode}: {done.stderr}")
        for line in done.stdout.splitlines():
            stack, _, count = line.rpartition(" ")
            frame = stack.split(";")[0]
            frames[frame] = frames.get(frame, 0) + int(count)
        said = subprocess.run([self.options.prof, "report", "hot-stacks", "--metric", "launches", "--format", "csv", *words, log],
                              capture_output=True, text=True, env=run).stdout
        for row in csv.DictReader(io.StringIO(said)):
            sources.setdefault(row["Function"], set()).add(row["Source"])
        # Lines of plain_c_function: from the source, or none. The compiler decides where in the function an address is.
        lines = {re.sub(r".*/symbols_fixture/code\.cpp:(\d+)", r"\1", source) for source in sources.get("plain_c_function", ())}
        near = {str(self.lines["plain"] + i) for i in (-1, 0, 1, 2)}
        return frames, "right" if lines and lines <= near else "none" if lines == {""} else lines, [note for note in notes if "built without libdw" not in note]

    def expect(self, what, found, wanted):
        if found != wanted:
            self.wrong.append(f"{what}\n  found  {found}\n  wanted {wanted}")

    def bare(self, name):
        return {f"{name}+{address:#x}": 1 for address in self.addresses}


NAMED = {"plain_c_function": 2, "fixture::twice": 4}


def build_id_store(case):
    """/usr/lib/debug/.build-id, below --sysroot, is found by the build-id alone; a file of another build is not
    used."""
    stripped = case.copy("libstripped.so", "app/libmine.so")
    log = case.log({stripped: case.build_id})
    store = case.folder / f"root/usr/lib/debug/.build-id/{case.build_id[:2]}/{case.build_id[2:]}.debug"
    case.expect("without a debug file: names that are exported", case.ask(log, "--sysroot", case.folder / "root"), (NAMED, "none", []))
    case.copy("libstripped.debug", store)
    case.expect("with it", case.ask(log, "--sysroot", case.folder / "root"), (NAMED, "right", []))
    other = bytearray(store.read_bytes())
    at = other.find(bytes.fromhex(case.build_id))
    other[at] ^= 255
    store.write_bytes(other)
    case.expect("of another build", case.ask(log, "--sysroot", case.folder / "root"), (NAMED, "none", []))


def debug_link(case):
    """A file without a build-id and its .gnu_debuglink: used if the checksum is right, never if it is not."""
    path, debug = case.folder / "libnoid.so", case.folder / "libnoid.debug"
    objcopy = shutil.which("objcopy")
    subprocess.run([objcopy, "--only-keep-debug", case.fixture / "libnoid.so", debug], check=True)
    subprocess.run([objcopy, "--strip-all", f"--add-gnu-debuglink={debug}", case.fixture / "libnoid.so", path], check=True)
    case.use(case.fixture / "libnoid.so")
    log = case.log({path: ""})
    case.expect("its own", case.ask(log), (NAMED, "right", []))
    with open(debug, "ab") as out:  # the content is the same except for the checksum
        out.write(b"\0")
    case.expect("of another checksum: names that are exported", case.ask(log), (NAMED, "none", []))


def debuginfod(case):
    """The server is contacted if --debuginfod requests it, and otherwise not."""
    if ctypes.util.find_library("debuginfod") is None:
        print("libdebuginfod is not here")
        sys.exit(SKIPPED)
    asked = []
    debug = (case.fixture / "libstripped.debug").read_bytes()

    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            known = self.path == f"/buildid/{case.build_id}/debuginfo"
            self.send_response(200 if known else 404)
            self.send_header("Content-Length", str(len(debug) if known else 0))
            self.end_headers()
            if known:
                self.wfile.write(debug)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    stripped = case.copy("libstripped.so", "app/libmine.so")
    log = case.log({stripped: case.build_id})
    there = {"DEBUGINFOD_URLS": f"http://127.0.0.1:{server.server_port}", "DEBUGINFOD_CACHE_PATH": str(case.folder / "cache"), "DEBUGINFOD_TIMEOUT": "20"}
    case.expect("without the option", (case.ask(log, environment=there), asked), ((NAMED, "none", []), []))
    case.expect("with it", case.ask(log, "--debuginfod", environment=there), (NAMED, "right", []))
    case.expect("asked", set(asked), {f"/buildid/{case.build_id}/debuginfo"})
    unknown = case.log({case.folder / "app/libgone.so": "00" * 20})
    asked.clear()
    frames, _, notes = case.ask(unknown, "--debuginfod", environment=there)
    case.expect("what the server does not have", frames, case.bare("libgone.so"))
    case.expect("said", [len(notes), "libgone.so: 6 of 6 addresses have no name: debuginfod" in notes[-1]], [1, True])
    case.expect("asked", set(asked), {f"/buildid/{'00' * 20}/debuginfo"})
    server.shutdown()


def no_images(case):
    """A log without the mapped files: addresses of the process, reported once."""
    log = case.log({case.whole: case.build_id}, with_images=False)
    frames, _, notes = case.ask(log)
    case.expect("addresses", frames, {f"{BASE + 0x1000000 + address:#x}": 1 for address in case.addresses})
    case.expect("said", notes, ["no module: 6 of 6 addresses have no name: code without a file"])


def damaged(case):
    """Debug information, symbols and whole files that are damaged: known names stay, the others are module+0x…,
    reported once per module."""
    whole = case.whole.read_bytes()

    def write(name, *sections, value=255):
        data = bytearray(whole)
        for section in sections:
            offset, size = case.sections[section]
            data[offset:offset + size] = bytes([value]) * size
        path = case.folder / name
        path.write_bytes(data)
        return path

    for name, sections, value in (("libinfo.so", [".debug_info"], 255), ("libabbrev.so", [".debug_abbrev"], 0),
                                  ("libzero.so", [".debug_info"], 0), ("libline.so", [".debug_line"], 255)):
        path = write(name, *sections, value=value)
        log = case.log({path: case.build_id})
        case.expect(f"{name}: names, no lines", case.ask(log), (NAMED, "none", []))
        said = subprocess.run([case.options.prof, "symbolize", "--format", "csv", log], capture_output=True, text=True,
                              env={**os.environ, "PROF_SYMBOL_CACHE": "off"}).stdout
        missing = [row["Missing"] for row in csv.DictReader(io.StringIO(said))]
        case.expect(f"{name}: said", missing in (["its debug information says nothing of them"],
                                                 ["its debug information is damaged: functions are from the symbol table"]), True)
    # No symbols either.
    bad = write("libnone.so", ".debug_info", ".symtab", ".dynsym", value=255)
    short = case.folder / "libshort.so"
    short.write_bytes(whole[:len(whole) // 3])
    text = case.folder / "libtext.so"
    text.write_text("no ELF file")
    log = case.log({bad: case.build_id, short: case.build_id, text: case.build_id, "/nonexistent/libgone.so": case.build_id})
    frames, _, notes = case.ask(log)
    wanted = {}
    for name in ("libnone.so", "libshort.so", "libtext.so", "libgone.so"):
        wanted.update(case.bare(name))
    case.expect("addresses", frames, wanted)
    case.expect("said once each", sorted(note.split(":")[0] for note in notes), ["libgone.so", "libnone.so", "libshort.so", "libtext.so"])
    for note in notes:
        if not re.match(r"lib\w+\.so: 6 of 6 addresses have no name: \S", note):
            case.wrong.append(note)


CASES = {function.__name__: function for function in (build_id_store, debug_link, debuginfod, no_images, damaged)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--prof", required=True)
    parser.add_argument("--undump", required=True)
    parser.add_argument("--fixture", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="prof-symbols-") as folder:
        case = Case(options, folder)
        CASES[options.case](case)
    print("\n".join(case.wrong) or f"{options.case}: as expected")
    return 1 if case.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
