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
# the kernel, words that are only sometimes shared, and objects that would outlive an execution
SAID = (r"static model::atomic<bool> said\{false\};", "bool said = false;")
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
    ("ring", "preload/log/ring.cpp", [
        SAID,
        (r"static constexpr uint64_t kFewestCells = 1u << 16, kCellsForSeconds = 1u << 20;",
         "const uint64_t kFewestCells = g_cells, kCellsForSeconds = g_cells;"),
        (r"kLook = 256", "kLook = 8"),
        (r"__atomic_load_n\(&block->header.in_call_tick, __ATOMIC_RELAXED\)", "peek_sealed(block)"),
        (r"std::memset\(reinterpret_cast<char\*>\(block\).*?\);", "block->clear();")]),
    # Parts of a class: how a thread opens a block, and how it commits a record.
    ("block_open", "preload/record/block_writer.cpp", [
        (r"^.*?(?=format::BlockHeader& header = block_->header;\s+header\.kind)", ""),
        (r"if \(repeats_\) define_thread.*$", "")]),
    ("block_commit", "preload/record/block_writer.h", [
        (r"^.*?(?=void commit\(size_t size\))", ""), (r"(?<=used_ = used;\n  \}\n).*$", "")]),
    ("chunks", "preload/log/chunks.cpp", [
        SAID,
        (r"kMaxSlabs = 4096", "kMaxSlabs = 6"), (r"kSpares = 256", "kSpares = 2"),
        (r"kAheadBlocks = 256", "kAheadBlocks = 1"),
        (r"uint32_t blocks;\s*uint64_t offset;", "plain<uint32_t> blocks; plain<uint64_t> offset;"),
        (r"(?<=void touch\(Slab& slab, uint32_t upto\) \{).*?(?=\n\}\n)",
         "RL_ASSERT(slab.base.load(rl::mo_relaxed, $) != nullptr && slab.blocks != 0);")]),
]


def transformed(text, shown, sites, replacements):
    """the source for relacy; appends (number, file:line, order, source line) to `sites`"""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        def order(match, line=line, number=number):
            name = match.group(1)
            if name == "relaxed":
                return "rl::mo_relaxed, $"
            sites.append((sites[-1][0] + 1 if sites else 1, f"{shown}:{number}", name, line.strip()))
            return f"model::order({sites[-1][0]}, rl::mo_{name}), $"

        code = line.split("//")[0]
        if code.startswith(("#", "namespace", "extern ")) or line.startswith("}  // namespace"):
            code = ""
        code = re.sub(r"std::(atomic<|atomic_ref\b|atomic_\w+_fence)", r"model::\1", ORDER.sub(order, code))
        if not code.startswith("    "):
            code = re.sub(r"^(  )?constexpr ", r"\1static constexpr ", code)
        lines.append(code.replace("constinit ", ""))
    result = "\n".join(lines) + "\n"
    for pattern, replacement in replacements:
        result, changes = re.subn(pattern, lambda _: replacement, result, flags=re.S)
        if changes == 0:
            sys.exit(f"{shown} has no {pattern!r} any more: SOURCES in real_source.py must follow it")
    sites[:] = [site for site in sites if site[1].rpartition(":")[0] != shown or f"order({site[0]}, " in result]
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
