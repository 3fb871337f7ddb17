#!/usr/bin/env python3
"""Checks what a wheel of libprof has. Usage: check_wheel.py WHEEL [LIKE], LIKE: the wheel for another processor.
* Tag: the name of the file and the tag in it are py3-none-manylinux_2_28_PROCESSOR.
* Files: those of LIKE, under the same names.
* Processor: each ELF file is for that of the tag, and its segments are aligned to the largest page of its kernels.
* Needs: no glibc symbol newer than 2.28, except files of lib/prof, which prof and libprof.so load at run time if the
  system suffices. Each of these has a limit of its own."""
import os
import re
import sys
import tempfile
import zipfile

from check_library import needed_versions, newer, readelf

NAME = re.compile(r"libprof-[\d.]+-(py3-none-manylinux_(\d+)_(\d+)_(\w+))\.whl")
MACHINES = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}  # as readelf prints them
PAGES = {"x86_64": 4 << 10, "aarch64": 64 << 10}  # bytes; RHEL 8 has pages of 64 KiB on aarch64
# The newest allowed symbol of glibc, if it is not that of the tag. docs/install.md names these limits.
OPTIONAL = {"lib/prof/libunwind.so.8": "2.34", "lib/prof/parquet/libprof_parquet.so": "2.32"}


def elf_problems(path, name, machine, limit):
    """what is wrong with one ELF file"""
    found = re.search(r"Machine: +(.+)", readelf("--file-header", path)).group(1)
    if found != MACHINES[machine]:
        yield f"{name} is for {found}"
    segments = (line.split() for line in readelf("--program-headers", path).splitlines())
    aligned = min(int(fields[-1], 16) for fields in segments if fields[:1] == ["LOAD"])
    if aligned < PAGES[machine]:
        yield f"{name} has a segment that is aligned to {aligned} bytes; {PAGES[machine]} is the least allowed"
    limit = next((other for end, other in OPTIONAL.items() if name.endswith(f"/{end}")), limit)
    newest, _ = needed_versions(path, limit)
    print(f"{name}: glibc symbols up to {newest}")
    if newer(newest, limit):
        yield f"{name} needs glibc {newest}; {limit} is the newest allowed"


def problems(wheel, like):
    tag = NAME.fullmatch(os.path.basename(wheel))
    if not tag:
        yield f"{os.path.basename(wheel)}: the name has no tag of a manylinux platform"
        return
    limit, machine = f"{tag[2]}.{tag[3]}", tag[4]
    if limit != "2.28" or machine not in MACHINES:
        yield f"the tag is {tag[1]}, not that of glibc 2.28 and one of {' '.join(MACHINES)}"
        return
    with zipfile.ZipFile(wheel) as file, tempfile.TemporaryDirectory() as scratch:
        names = set(file.namelist())
        described = next((name for name in names if name.endswith(".dist-info/WHEEL")), None)
        tags = re.findall(r"^Tag: (\S+)", file.read(described).decode(), re.M) if described else []
        if tags != [tag[1]]:
            yield f"the tags in the wheel are {tags}, that of its name is {tag[1]}"
        elves = [name for name in sorted(names) if file.open(name).read(4) == b"\x7fELF"]
        if not elves:
            yield "it has no ELF file"
        for name in elves:
            yield from elf_problems(file.extract(name, scratch), name, machine, limit)
    if like:
        with zipfile.ZipFile(like) as file:
            others = set(file.namelist())
        yield from (f"lacks {name}, which {os.path.basename(like)} has" for name in sorted(others - names))
        yield from (f"has {name}, which {os.path.basename(like)} lacks" for name in sorted(names - others))
    print(f"RESULT {len(names)} files, {len(elves)} of them ELF files for {machine}")


def main():
    found = list(problems(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
    for problem in found:
        print(f"{os.path.basename(sys.argv[1])}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
