#!/usr/bin/env python3
"""What prof does on a terminal, with signals and with closed pipes: terminal.py CASE --prof PROF --undump UNDUMP

width      tables fit the width of the terminal, and are whole in pipes and files
limit      summary prints 20 rows of a block on a terminal, and all in a pipe
escapes    nothing but tables on a terminal, also without NO_COLOR; doctor prints no escaped characters
progress   a step of more than two seconds shows a line on a terminal, which disappears; none in a pipe
interrupt  SIGINT, SIGTERM and SIGHUP end prof by the signal, and no temporary file is left
pipe       a closed stdout ends prof by SIGPIPE without a message; a full one is reported
"""
import argparse
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FAILED = []


def check(holds, what):
    if not holds:
        FAILED.append(what)
        print("failed:", what)


def on_terminal(command, columns, cwd, stdout_only=False, **environment):
    """The output of a command whose stdout and stderr are a terminal of that width."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    env.update({"PROF_SYMBOL_CACHE": "off", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}, **environment)
    process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=slave,
                               stderr=subprocess.DEVNULL if stdout_only else slave)
    os.close(slave)
    chunks = []
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # EIO: the last writer is gone
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(master)
    process.wait(timeout=60)
    return b"".join(chunks).decode("utf-8").replace("\r\n", "\n")


def long_names(folder, kernels):
    """A trace of kernels with long names."""
    path = os.path.join(folder, "long.json")
    with open(path, "w", encoding="utf-8") as out:
        events = ",\n".join(
            '{"ph":"X","cat":"kernel","name":"void at::native::a_kernel_with_a_long_name_%d<float, 4, at::native::Add%s>(int)",'
            '"pid":0,"tid":7,"ts":%d,"dur":5,"args":{"device":0,"stream":7,"correlation":%d}}' % (i, "X" * 120, 10 * i, i)
            for i in range(kernels))
        out.write('{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H200"}],"traceEvents":[' + events + "]}")
    return path


def case_width(prof, undump, folder):
    path = long_names(folder, 5)
    whole = subprocess.run([prof, "report", "kernels", "--names", "full", path], cwd=folder, capture_output=True, text=True).stdout
    check(max(map(len, whole.splitlines())) > 250 and "…" not in whole, "a pipe has whole lines")
    for columns in (200, 240):
        text = on_terminal([prof, "report", "kernels", "--names", "full", path], columns, folder)
        rows = [line for line in text.splitlines() if "a_kernel" in line or "void" in line]
        check(len(rows) == 5, f"{columns} columns: 5 rows")
        check(max(map(len, rows)) <= columns, f"{columns} columns: rows of at most that many characters")
        check(all(row.endswith("…") for row in rows), f"{columns} columns: names are cut with an ellipsis")
    for columns, missing in ((60, "Avg, Min, Max"), (80, "Min, Max"), (120, None)):
        text = on_terminal([prof, "summary", path], columns, folder)
        rows = [line for line in text.splitlines() if not line.startswith("==")]
        check(max(map(len, rows)) <= columns, f"summary, {columns} columns: lines of at most that many characters")
        names = [row[row.index("void "):] for row in rows if "void " in row]
        check(len(names) == 5 and min(map(len, names)) >= 12, f"summary, {columns} columns: names have their place: {names}")
        check(("pipes: " + missing + "\n" in text) if missing else "pipes:" not in text, f"summary, {columns} columns: what is left out")
    text = on_terminal([prof, "report", "kernels", "--names", "full", path], 100, folder)
    rows = [line for line in text.splitlines() if "void" in line]
    check(len(rows) == 5 and max(map(len, rows)) <= 100, "100 columns: numbers that do not fit are left out")
    hidden = re.search(r"columns that do not fit the terminal, but are in files and pipes: (.*)", text)
    titles = whole.splitlines()[[line.startswith("Type") for line in whole.splitlines()].index(True)]
    check(hidden is not None and all(title in titles for title in hidden.group(1).split(", ")), "their titles are listed")
    for columns in (90, 100):
        text = on_terminal([prof, "summary", path], columns, folder)
        rows = [line for line in text.splitlines() if "void" in line]
        check(rows and max(map(len, rows)) <= columns and all(row.endswith("…") for row in rows), f"summary fits {columns} columns")
    on_terminal([prof, "report", "kernels", "--names", "full", path, "-o", "out.txt"], 100, folder)
    check(open(os.path.join(folder, "out.txt"), encoding="utf-8").read() == whole, "a file has whole lines")
    for report in ("idle-gaps", "gpu-trace", "devices"):
        command = [prof, "report", report, path] if report != "devices" else [prof, "devices"]
        for columns in (60, 120):
            text = on_terminal(command, columns, folder).splitlines()
            rule = next(i for i, line in enumerate(text) if re.fullmatch(r"-+(  -+)*", line))
            table = text[rule - 1:text.index("", rule)]
            check(max(map(len, table)) <= columns, f"{report} fits {columns} columns")


def case_limit(prof, undump, folder):
    path = long_names(folder, 33)
    text = on_terminal([prof, "summary", path], 150, folder)
    check(text.count("a_kernel_with") == 20, "20 rows on a terminal")
    check("first 20 of 33 rows; --limit 0 prints all" in text, "a line with the number of rows")
    check(on_terminal([prof, "summary", "--limit", "0", path], 150, folder).count("a_kernel_with") == 33, "--limit 0")
    check(on_terminal([prof, "summary", "--limit", "3", path], 150, folder).count("a_kernel_with") == 3, "--limit 3")
    run = subprocess.run([prof, "summary", path], cwd=folder, capture_output=True, text=True)
    check(run.stdout.count("a_kernel_with") == 33 and "first" not in run.stdout, "all rows in a pipe")


def case_escapes(prof, undump, folder):
    path = long_names(folder, 3)
    for command in (["report", "kernels", path], ["summary", path], ["help"], ["check", path], ["report", "--list"], ["doctor", "--no-self-test"]):
        for environment in ({}, {"NO_COLOR": "1"}):
            text = on_terminal([prof] + command, 120, folder, **environment)
            check(text and "\x1b" not in text, f"{command[0]} prints no terminal escapes")
    text = on_terminal([prof, "doctor", "--no-self-test"], 120, folder, PROF_LIBRARY="/nowhere/libprof.so")
    check("\\x" not in text, "doctor prints no escaped characters")


def case_progress(prof, undump, folder):
    fifo = os.path.join(folder, "fifo")
    os.mkfifo(fifo)
    path = long_names(folder, 3)

    # The reader of a FIFO is late: writing takes more than two seconds.
    def read_late():
        time.sleep(3.5)
        with open(fifo, "rb") as late:
            late.read()

    for terminal in (True, False):
        reader = threading.Thread(target=read_late)
        reader.start()
        command = [prof, "trace", path, "-o", fifo]
        if terminal:
            text = on_terminal(command, 100, folder)
            check(re.search(r"\rprof: .*writing .*fifo \d", text) is not None, "a line of progress")
            check(text.rfind("\x1b[K") < text.rfind("events"), "the line disappears")
        else:
            run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            check("writing" not in run.stderr and "\x1b" not in run.stderr, "no progress in a pipe")
        reader.join()


def case_interrupt(prof, undump, folder):
    big = os.path.join(folder, "big.json")
    with open(big, "w", encoding="utf-8") as out:
        out.write('{"schemaVersion":1,"traceEvents":[')
        out.write(",\n".join('{"ph":"X","cat":"kernel","name":"k%d","pid":0,"tid":7,"ts":%d,"dur":5,"args":{"device":0,"stream":7}}' % (i % 9, 10 * i)
                             for i in range(300000)))
        out.write("]}")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = subprocess.Popen([prof, "trace", big, "-o", "out.json.gz"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        deadline = time.time() + 60
        while time.time() < deadline and process.poll() is None and not any(name.endswith(".tmp") for name in os.listdir(folder)):
            time.sleep(0.002)
        seen = any(name.endswith(".tmp") for name in os.listdir(folder))
        process.send_signal(number)
        error = process.communicate(timeout=60)[1]
        check(seen, f"{number.name} came while the file was written")
        check(process.returncode == -number, f"{number.name} ends prof, not status {process.returncode}")
        check(error == b"", f"{number.name}: no message")
        left = sorted(set(os.listdir(folder)) - {"big.json"})
        check(left == [], f"{number.name} leaves nothing, not {left}")
    temporary = os.path.join(folder, "temporary")
    os.mkdir(temporary)
    process = subprocess.Popen([prof, "doctor"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": temporary})
    while process.poll() is None and not os.listdir(temporary):
        time.sleep(0.001)
    check(os.listdir(temporary) != [] or process.returncode == 2, "doctor makes a folder")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    check(os.listdir(temporary) == [], "SIGINT leaves no folder of the self-test")
    os.rmdir(temporary)
    error = subprocess.run([prof, "report", "kernels", big, "--sort", "nothing", "-o", "out.csv"], cwd=folder, capture_output=True).returncode
    check(error == 2 and os.listdir(folder) == ["big.json"], "an error leaves nothing")


def case_pipe(prof, undump, folder):
    path = long_names(folder, 3000)
    plog = os.path.join(folder, "app.plog")
    subprocess.run([undump, os.path.join(HERE, "trace_basic/app.log.txt"), plog], check=True)
    for command in (["report", "gpu-trace", path], ["summary", path], ["trace", path, "-o", "-"], ["dump", plog], ["check", path],
                    ["report", "--list"], ["help", "report"], ["doctor", "--no-self-test"], ["devices"], ["report", "copies", "kernels", plog, "--format", "json"]):
        for ignored in (True, False):
            read, write = os.pipe()
            os.close(read)
            run = subprocess.run([prof] + command, cwd=folder, stdout=write, stderr=subprocess.PIPE, restore_signals=not ignored)
            os.close(write)
            check(run.returncode == -signal.SIGPIPE, f"{command[0]} ends by SIGPIPE, not with {run.returncode}")
            check(b"ipe" not in run.stderr and b"written" not in run.stderr, f"{command[0]} is silent, not {run.stderr[:80]}")
        with open("/dev/full", "wb") as full:
            run = subprocess.run([prof] + command, cwd=folder, stdout=full, stderr=subprocess.PIPE)
        check(run.returncode == 2 and b"No space left" in run.stderr, f"{command[0]} reports a full disk: {run.returncode}, {run.stderr[:80]}")


CASES = {name[5:]: function for name, function in list(globals().items()) if name.startswith("case_")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=sorted(CASES))
    parser.add_argument("--prof", required=True)
    parser.add_argument("--undump", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="terminal.") as folder:
        CASES[args.case](os.path.abspath(args.prof), os.path.abspath(args.undump), folder)
    sys.exit(1 if FAILED else 0)


if __name__ == "__main__":
    main()
