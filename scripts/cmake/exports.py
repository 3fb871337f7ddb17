#!/usr/bin/env python3
"""Writes the linker's version script of libprof.so. The only exported symbols are the rows of cuda_api.def,
cudart_api.def, cupti_api.def and library_api.def, dlsym, dlopen, dlmopen, dlclose, _exit, _Exit, unshare, setns and NVTX's entry points. With --check LIBRARY it
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
LIBC = ["dlsym", "dlopen", "dlclose"]
DLMOPEN = {"aarch64": "GLIBC_2.17", "x86_64": "GLIBC_2.3.4"}  # its oldest version
LIBC_EXITS = ["_exit", "_Exit"]  # never moved to another version
LIBC_NAMESPACES = {"aarch64": {"unshare": "GLIBC_2.17", "setns": "GLIBC_2.17"}, "x86_64": {"unshare": "GLIBC_2.4", "setns": "GLIBC_2.14"}}
FIXED = ["InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension"]
LIBC_VERSIONS = {"aarch64": ["GLIBC_2.17", "GLIBC_2.34"], "x86_64": ["GLIBC_2.2.5", "GLIBC_2.34"]}


def table(options, name):
    """the path of a list of the recorder, in whichever folder of preload/ it is"""
    return next((options.include / "preload").rglob(name))


def rows(options, name, macro):
    """names of a .def file's rows; the compiler evaluates its #if lines with the toolkit's CUDA_VERSION"""
    version = re.search(r"#define\s+CUDA_VERSION\s+(\d+)", (options.cuda / "cuda.h").read_text()).group(1)
    command = [options.compiler, "-E", "-P", "-x", "c++", f"-DCUDA_VERSION={version}", table(options, name)]
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
    arch = "aarch64" if options.arch in ("aarch64", "arm64") else "x86_64"
    old, new = LIBC_VERSIONS[arch]
    namespaces = LIBC_NAMESPACES[arch]
    if options.check:
        runtime = {f"{name}@{version}" for name in rows(options, "cudart_api.def", "CUDART_API") for version in RUNTIME_VERSIONS}
        wanted = set(names) | runtime | set(library_rows(options)) | {f"{name}{at}" for name in LIBC for at in (f"@{old}", f"@@{new}")} | {
            f"{name}@@{old}" for name in LIBC_EXITS} | {f"{name}@@{version}" for name, version in namespaces.items()} | {
            f"dlmopen@{DLMOPEN[arch]}", f"dlmopen@@{new}"}
        found = exported(options.check)
        for name in sorted(wanted - found):
            print(f"{options.check} does not export {name}", file=sys.stderr)
        for name in sorted(found - wanted):
            print(f"{options.check} exports {name}, which no table names", file=sys.stderr)
        return 0 if found == wanted else 1

    # No "local: *": it would require every other name in a version node. The compiler hides them (-fvisibility=hidden).
    libc = " ".join(f"{name};" for name in LIBC)
    exits = " ".join(f"{name};" for name in LIBC_EXITS)
    same = DLMOPEN[arch] == old
    text = (f"{old} {{ global: {libc} {exits} {'dlmopen; ' if same else ''}local: prof_dlsym_*; prof_dlopen_*; prof_dlmopen_*; "
            f"prof_dlclose_*; prof_exit_call_*; prof_unshare_call_*; prof_setns_call_*; prof_rt_*; prof_lib_*; }};\n")
    text += "" if same else f"{DLMOPEN[arch]} {{ global: dlmopen; }} {old};\n"
    text += f"{new} {{ global: {libc} dlmopen; }} {old if same else DLMOPEN[arch]};\n"
    libraries = dict.fromkeys(name.partition("@")[2] for name in library_rows(options) if "@" in name)
    others = dict.fromkeys(version for version in namespaces.values() if version != old)
    text += "".join(f"{version} {{ }};\n" for version in [*others, *RUNTIME_VERSIONS, *libraries])
    options.output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
