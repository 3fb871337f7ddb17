#!/usr/bin/env python3
"""Writes the linker's version script of libprof.so. The only exported symbols are the rows of cuda_api.def,
cudart_api.def, cupti_api.def and library_api.def, the functions of libc that the library stands in front of (LIBC), and
NVTX's entry points. With --check LIBRARY it
compares the exports of a built library with that list instead.

Functions of libc have its version names. Functions of the CUDA runtime and of the libraries on top of it have the
version names of each of their releases, because no program would request a version name of this project. All other
functions have none, as in libcuda.
"""
import argparse
import pathlib
import re
import subprocess
import sys

RUNTIME_VERSIONS = ["libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"]
CUPTI_VERSION = "libcupti.so.13"  # of the functions that older ones do not have
# Functions of libc by version. "@" in front: only old programs bind to this version.
EXECS = ["execve", "execv", "execvp", "execl", "execlp", "execle", "fexecve"]
LIBC = {
    "x86_64": {
        "GLIBC_2.2.5": ["@dlsym", "@dlopen", "@dlclose", "_exit", "_Exit", "getenv", "syscall", *EXECS, "@posix_spawn", "@posix_spawnp"],
        "GLIBC_2.3.4": ["@dlmopen"],
        "GLIBC_2.4": ["unshare"],
        "GLIBC_2.11": ["execvpe"],
        "GLIBC_2.14": ["setns"],
        "GLIBC_2.15": ["posix_spawn", "posix_spawnp"],
        "GLIBC_2.17": ["secure_getenv"],
        "GLIBC_2.34": ["dlsym", "dlopen", "dlmopen", "dlclose", "execveat"],
    },
    "aarch64": {
        "GLIBC_2.17": ["@dlsym", "@dlopen", "@dlmopen", "@dlclose", "_exit", "_Exit", "getenv", "secure_getenv", *EXECS, "execvpe", "posix_spawn", "posix_spawnp", "unshare", "setns"],
        "GLIBC_2.34": ["dlsym", "dlopen", "dlmopen", "dlclose", "execveat"],
    },
}
FIXED = ["InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension"]


def table(options, name):
    """the path of a list of the recorder, in whichever folder of preload/ it is"""
    return next((options.include / "preload").rglob(name))


def rows(options, name, macro):
    """names of a .def file's rows; the compiler evaluates its #if lines with the toolkit's CUDA_VERSION"""
    version = re.search(r"#define\s+CUDA_VERSION\s+(\d+)", (options.cuda / "cuda.h").read_text()).group(1)
    command = [options.compiler, "-E", "-P", "-x", "c++", f"-DCUDA_VERSION={version}", "-DCUPTI_NEW_API=CUPTI_NEW_API", table(options, name)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return re.findall(macro + r"\((\w+)", text)


def library_rows(options):
    """exported names of library_api.def's rows, as NAME@VERSION if their library has versions"""
    versions = dict(re.findall(r"PROF_LIBRARY_(\w+)\(X\) X\((.*)\)", table(options, "library_versions.h").read_text()))
    names = []
    for library, name in re.findall(r"^LIBRARY_API\((\w+), (\w+)", table(options, "library_api.def").read_text(), re.M):
        known = [version for version in re.findall(r'"([^"]*)"', versions[library]) if version]
        names += [f"{name}@{version}" for version in known] or [name]
    return names


def exported(library):
    text = subprocess.run(["readelf", "-W", "--dyn-syms", library], check=True, capture_output=True, text=True).stdout
    found = set()
    for line in text.splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[4] in ("GLOBAL", "WEAK") and fields[5] == "DEFAULT" and fields[6] not in ("UND", "ABS"):
            found.add(fields[7])
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--arch", default="x86_64")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--include", type=pathlib.Path, required=True, help="root of the source tree")
    parser.add_argument("--cuda", type=pathlib.Path, required=True, help="folder that holds cuda.h")
    parser.add_argument("-o", dest="output", type=pathlib.Path)
    parser.add_argument("--check", metavar="LIBRARY")
    options = parser.parse_args()

    names = rows(options, "cuda_api.def", "CUDA_API") + rows(options, "cupti_api.def", "CUPTI_API") + FIXED
    libc = LIBC["aarch64" if options.arch in ("aarch64", "arm64") else "x86_64"]
    if options.check:
        runtime = {f"{name}@{version}" for name in rows(options, "cudart_api.def", "CUDART_API") for version in RUNTIME_VERSIONS}
        newer = {f"{name}@{CUPTI_VERSION}" for name in rows(options, "cupti_api.def", "CUPTI_NEW_API")}
        wanted = set(names) | runtime | newer | set(library_rows(options)) | {
            f"{name}@{version}" if name[0] == "@" else f"{name}@@{version}" for version, names in libc.items() for name in names}
        wanted = {name.removeprefix("@") for name in wanted}
        found = exported(options.check)
        for name in sorted(wanted - found):
            print(f"{options.check} does not export {name}", file=sys.stderr)
        for name in sorted(found - wanted):
            print(f"{options.check} exports {name}, which no table names", file=sys.stderr)
        return 0 if found == wanted else 1

    # No "local: *": it would require every other name in a version node. The compiler hides them (-fvisibility=hidden).
    text, before = "", ""
    for version, names in libc.items():
        local = "" if before else " local: prof_dlsym_*; prof_dlopen_*; prof_dlmopen_*; prof_dlclose_*; prof_exit_call_*; prof_export_*; prof_unshare_call_*; prof_setns_call_*; prof_syscall_*; prof_rt_*; prof_lib_*; prof_cupti_*;"
        text += f"{version} {{ global: {' '.join(name.removeprefix('@') + ';' for name in names)}{local} }}{before};\n"
        before = f" {version}"
    libraries = dict.fromkeys(name.partition("@")[2] for name in library_rows(options) if "@" in name)
    text += "".join(f"{version} {{ }};\n" for version in [*RUNTIME_VERSIONS, CUPTI_VERSION, *libraries])
    options.output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
