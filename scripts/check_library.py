#!/usr/bin/env python3
"""Checks what libprof.so exports and needs. Usage: check_library.py LIBRARY FOLDER [GLIBC]; check_library.py
--hardened PROGRAM, which checks only the last point; check_library.py --copyable PROGRAM [GLIBC], for the static prof,
which checks the last point and Needs, with all libraries of glibc allowed:
* Exports: exactly the rows of the .def files in FOLDER, the functions of libc in ALWAYS, and the NVTX entry
  points. Functions of the CUDA
  runtime and of the libraries on top of it have the version names of each of their releases. None of these is the
  default version, because a program without these libraries must not find the functions.
* Needs: libc and the loader only, and no glibc symbol newer than GLIBC (2.28). A preloaded library that needs a newer
  one prevents every process from starting.
* Clocks: no function of libc that reads a clock or waits for one.
* Start: objects are initialised by the loaded image only. No code initialises an object at start, because every process
  would pay for it, with or without a GPU.
* Hardened: no memory that is both writable and executable, no executable stack, everything bound and made read-only at
  start, functions with buffers have stack guards, calls of libc are checked."""
import os
import re
import subprocess
import sys

ALWAYS = {"dlsym", "dlopen", "dlmopen", "dlclose", "_exit", "_Exit", "getenv", "secure_getenv", "execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle",
          "fexecve", "execveat", "posix_spawn", "posix_spawnp", "unshare", "setns", "syscall", "InitializeInjectionNvtx2",
          "InitializeInjectionNvtxExtension"}
NEEDED = re.compile(r"libc\.so\.6|ld-linux-[\w-]+\.so\.\d")
GLIBC_LIBRARY = re.compile(r"lib(?:c|m|dl|rt|pthread)\.so\.\d|ld-linux-[\w-]+\.so\.\d")
# What musl lacks. A strong reference ends every program of that libc that is started with the same LD_PRELOAD.
GLIBC_ONLY = re.compile(r"__(?!stack_chk_fail)\w+_chk|__register_atfork|__cxa_at_quick_exit|dlvsym|gnu_get_libc_version|__isoc\d+_\w+|__libc_\w+")
# Libraries that control the time of a program replace these. The recorder reads the kernel's clocks (clock.h) and
# sleeps by system calls (raw_call.h).
CLOCKS = re.compile(r"(?:__)?(?:clock_\w+|gettimeofday|time|ftime|timespec_get|nanosleep|u?sleep|p?select|p?poll|epoll_p?wait\d?|"
                    r"(?:pthread_cond|pthread_mutex|pthread_rwlock|sem|mq|sig|sigtimed)\w*(?:timed|clock)\w*|timer_\w+|timerfd_\w+|alarm|setitimer|thrd_sleep)")
ROW = re.compile(r"^(?:CUDA_API|CUPTI_API)\w*\(\s*(\w+)", re.M)
NEWER_CUPTI_ROW = re.compile(r"^CUPTI_NEW_API\(\s*(\w+)", re.M)
RUNTIME_ROW = re.compile(r"^CUDART_API\(\s*(\w+)", re.M)
LIBRARY_ROW = re.compile(r"^LIBRARY_API\((\w+), (\w+)", re.M)
LIBRARY_VERSIONS = re.compile(r"PROF_LIBRARY_(\w+)\(X\) X\((.*)\)")
RUNTIME_VERSIONS = ("libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13")


def readelf(*options):
    return subprocess.run(["readelf", "--wide", *options], check=True, capture_output=True, text=True).stdout


def rows(folder):
    """exported names; names with versions (of the CUDA runtime and of libraries) as NAME@VERSION"""
    names = set()
    paths = [os.path.join(inside, name) for inside, _, found in sorted(os.walk(folder)) for name in sorted(found)]
    with open(next(path for path in paths if os.path.basename(path) == "library_versions.h"), encoding="utf-8") as source:
        versions = {library: [v for v in re.findall(r'"([^"]*)"', text) if v] for library, text in LIBRARY_VERSIONS.findall(source.read())}
    for path in paths:
        if path.endswith(".def"):
            with open(path, encoding="utf-8") as source:
                text = source.read()
            names |= set(ROW.findall(text))
            names |= {f"{name}@libcupti.so.13" for name in NEWER_CUPTI_ROW.findall(text)}
            names |= {f"{name}@{version}" for name in RUNTIME_ROW.findall(text) for version in RUNTIME_VERSIONS}
            for library, name in LIBRARY_ROW.findall(text):
                names |= {f"{name}@{version}" for version in versions[library]} or {name}
    return names


def symbols(library):
    """(name, version with its @ or @@ or '', defined) of every dynamic symbol that others can bind to or that the
    library needs."""
    for line in readelf("--dyn-syms", library).splitlines():
        fields = line.split()  # number: value size type binding visibility section name
        if len(fields) >= 8 and fields[4] in ("GLOBAL", "WEAK", "UNIQUE") and fields[5] == "DEFAULT" and fields[6] != "ABS":
            name, at, version = fields[7].partition("@")
            yield name, at + version, fields[6] != "UND"


def weak_references(library):
    fields = (line.split() for line in readelf("--dyn-syms", library).splitlines())
    return {f[7].partition("@")[0] for f in fields if len(f) >= 8 and f[4] == "WEAK" and f[6] == "UND"}


def weaknesses(path, static=False):
    headers = readelf("--program-headers", path)
    dynamic = readelf("--dynamic", path)
    asked = {name for name, _, defined in symbols(path) if not defined}
    segments = [(fields[0], "".join(fields[6:-1])) for line in headers.splitlines() if len(fields := line.split()) >= 8 and fields[1].startswith("0x")]
    stacks = [flags for kind, flags in segments if kind == "GNU_STACK"]
    if not stacks or "E" in stacks[0]:
        yield "its stack may be executed"
    if any(kind == "LOAD" and "W" in flags and "E" in flags for kind, flags in segments):
        yield "a segment is both writable and executable"
    if not any(kind == "GNU_RELRO" for kind, _ in segments) or not re.search(r"BIND_NOW|Flags:.*\bNOW\b", dynamic):
        yield "not bound and made read-only at start (-z relro -z now)"
    # The static prof has this function inside: where its table of symbols is, it must be there.
    table = readelf("--symbols", path)
    if "__stack_chk_fail" not in (table if static else asked) and not (static and "'.symtab'" not in table):
        yield "no function guards its stack (-fstack-protector-strong)"
    if not any(re.fullmatch(r"__\w+_chk", name) for name in asked):
        yield "no call of libc is checked (-D_FORTIFY_SOURCE)"


def initialised_at_start(library):
    symbols = readelf("--symbols", library)
    if "'.symtab'" not in symbols:
        yield "is stripped: whether it initialises objects at start cannot be seen"
    for name in sorted(set(re.findall(r" FUNC .* (_GLOBAL__sub_I_\S+)$", symbols, re.M))):
        yield f"initialises objects at start ({name}): make them constinit"


def newer(version, limit):
    return tuple(map(int, version.split("."))) > tuple(map(int, limit.split(".")))


def needed_libraries(path):
    return re.findall(r"\(NEEDED\).*\[(.+)\]", readelf("--dynamic", path))


def needed_versions(path, limit):
    """the newest needed version of glibc; problems: newer ones than limit, versions of other libraries"""
    newest, problems = "0", []
    for name, version, defined in symbols(path):
        version = version.lstrip("@")
        match = re.fullmatch(r"GLIBC_([\d.]+)", version)
        if not defined and match:
            newest = max(newest, match.group(1), key=lambda v: tuple(map(int, v.split("."))))
            if newer(match.group(1), limit):
                problems.append(f"needs {name} of glibc {match.group(1)}; {limit} is the newest allowed")
        elif not defined and version:
            problems.append(f"needs {name} of {version}")
    return newest, problems


def check_copyable(program, limit):
    needed = needed_libraries(program)
    newest, problems = needed_versions(program, limit)
    foreign = [name for name in needed if not GLIBC_LIBRARY.fullmatch(name)]
    problems += [f"needs {name}; the libraries of glibc alone are allowed" for name in foreign]
    problems += weaknesses(program, static=True)
    for problem in problems:
        print(f"{os.path.basename(program)}: {problem}")
    size = os.path.getsize(program) >> 10
    print(f"RESULT needs {' '.join(needed) or 'nothing'}, glibc symbols up to {newest}, {size} KiB")
    return 1 if problems else 0


def main():
    if sys.argv[1] == "--copyable":
        return check_copyable(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "2.28")
    if sys.argv[1] == "--hardened":
        problems = list(weaknesses(sys.argv[2]))
        for problem in problems:
            print(f"{os.path.basename(sys.argv[2])}: {problem}")
        return 1 if problems else 0
    library, folder = sys.argv[1:3]
    limit = sys.argv[3] if len(sys.argv) > 3 else "2.28"
    problems = []
    table = rows(folder)
    if not table:
        problems.append(f"{folder}: no CUDA_API( row found: nothing to compare the exports with")
    always = ALWAYS if "X86-64" in readelf("--file-header", library) else ALWAYS - {"syscall"}  # syscall.S is for x86-64
    exported = {name if name in ALWAYS else name + version for name, version, defined in symbols(library) if defined}
    for name in sorted(exported - table - always):
        problems.append(f"exports {name}, which no row lists")
    for name in sorted((table | always) - exported):
        problems.append(f"does not export {name}, which a row lists")
    weak = weak_references(library)
    newest, too_new = needed_versions(library, limit)
    problems += too_new
    for name, version, defined in symbols(library):
        if not defined and GLIBC_ONLY.fullmatch(name) and name not in weak:
            problems.append(f"needs {name}, which other libcs lack: make it weak (preload/base/weak_libc.h)")
        if not defined and CLOCKS.fullmatch(name):
            problems.append(f"needs {name}: a library in the program may control that clock")
    needed = needed_libraries(library)
    for name in needed:
        if not NEEDED.fullmatch(name):
            problems.append(f"needs {name}; libc alone is allowed")
    problems += weaknesses(library)
    problems += initialised_at_start(library)
    for problem in problems:
        print(f"{os.path.basename(library)}: {problem}")
    print(f"RESULT {len(exported)} exports, needs {' '.join(needed) or 'nothing'}, glibc symbols up to {newest}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
