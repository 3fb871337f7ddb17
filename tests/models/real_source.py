#!/usr/bin/env python3
"""Turns sources of the recorder into ones that relacy can execute: each order of an atomic operation becomes a call that
a run can weaken, and the globals of a source become members, so that each execution starts with fresh ones.

  real_source.py ROOT OUTPUT   writes OUTPUT/NAME.inc for each source, and OUTPUT/all.sites: SITE(number, "file:line",
                               order, "line") for each order that is not relaxed
"""
import pathlib
import re
import sys

ORDER = re.compile(r"std::memory_order_(\w+)")
# name of the output, source, what relacy cannot execute as it is (expression, replacement): large constants, memory of
# the kernel, and what another process reads
SOURCES = [
    ("handle_map", "preload/driver/handle_map.h", [
        (r"mutable Slot slots_",
         "public: void free_parts() { for (uint32_t i = 0; i + 1 < kParts; ++i) if (Slot* s = more_[i].load("
         "rl::mo_relaxed, $)) munmap(s, (size_t{mask_of(i + 1)} + 1) * sizeof(Slot)); }\n"
         "private: mutable Slot slots_")]),
    ("intern", "preload/record/intern.h", [
        (r"uint32_t first_ = 1;", "plain<uint32_t> first_;"), (r"uint32_t most_ = 1;", "plain<uint32_t> most_;")]),
    ("intern_grow", "preload/record/intern.cpp", [
        (r"^.*(?=bool InternTable::grow)", ""), (r"bool open_intern_tables.*$", "")]),
    ("rule_table", "preload/stacks/rule_table.h", [(r"1u << 15", "1")]),
]


def transformed(text, shown, sites, replacements):
    """the source for relacy; appends (number, file:line, order, source line) to `sites`"""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        def order(match, line=line, number=number):
            name = match.group(1)
            if name == "relaxed":
                return "rl::mo_relaxed, $"
            sites.append((len(sites) + 1, f"{shown}:{number}", name, line.strip()))
            return f"model::order({len(sites)}, rl::mo_{name}), $"

        code = line.split("//")[0]
        if code.startswith(("#", "namespace", "extern ")) or line.startswith("}  // namespace"):
            code = ""
        if "atomic_ref" not in code and "fence" not in code:
            code = ORDER.sub(order, code).replace("std::atomic<", "model::atomic<")
        if not code.startswith("    "):
            code = re.sub(r"^(  )?constexpr ", r"\1static constexpr ", code)
        lines.append(code.replace("constinit ", ""))
    result = "\n".join(lines) + "\n"
    for pattern, replacement in replacements:
        result, changes = re.subn(pattern, lambda _: replacement, result, flags=re.S)
        if changes == 0:
            sys.exit(f"{shown} has no {pattern!r} any more: SOURCES in real_source.py must follow it")
    return result


def main():
    root, output = map(pathlib.Path, sys.argv[1:])
    sites = []
    for name, source, replacements in SOURCES:
        (output / f"{name}.inc").write_text(transformed((root / source).read_text(), source, sites, replacements))
    rows = [f'SITE({number}, "{place}", rl::mo_{order}, R"({line})")\n' for number, place, order, line in sites]
    (output / "all.sites").write_text("".join(rows))


if __name__ == "__main__":
    main()
