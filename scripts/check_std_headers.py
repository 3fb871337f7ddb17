#!/usr/bin/env python3
"""Checks that every source includes the standard headers that it needs. Standard libraries differ in which header
includes which other, so a source that relies on an indirect include builds with one compiler and not with the next.
A name counts as included if the file, or a header of this project that it includes, includes its header. Usage:
check_std_headers.py ROOT. Prints each violation, exits 1 if any."""
import functools
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
# comments and strings; from raw strings the pattern may remove too much, never too little
SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)

ALGORITHMS = """adjacent_find all_of any_of binary_search clamp copy_backward copy_if copy_n count_if equal_range fill_n find_if find_if_not for_each
generate includes inplace_merge is_sorted lexicographical_compare lower_bound max_element merge min_element minmax minmax_element mismatch
none_of nth_element partial_sort partition partition_point push_heap pop_heap make_heap remove_if replace_if reverse rotate set_difference
set_intersection shuffle sort stable_partition stable_sort transform unique upper_bound""".split()
NEEDS = {  # header: names after "std::"
    "algorithm": ALGORITHMS,
    "array": ["array"],
    "charconv": ["from_chars", "to_chars"],
    "chrono": ["chrono"],
    "condition_variable": ["condition_variable"],
    "cstdint": ["uint8_t", "uint16_t", "uint32_t", "uint64_t", "int8_t", "int16_t", "int32_t", "int64_t", "uintptr_t"],
    "cstdio": ["fclose", "fflush", "fgets", "fopen", "fprintf", "fputs", "fread", "fwrite", "printf", "rename", "snprintf", "sscanf"],
    "cstdlib": ["_Exit", "abort", "atoi", "exit", "free", "getenv", "malloc", "strtod", "strtol", "strtoul", "strtoull"],
    "cstring": ["memchr", "memcmp", "memcpy", "memmove", "memset", "strchr", "strcmp", "strlen", "strncmp", "strrchr", "strstr"],
    "deque": ["deque"],
    "filesystem": ["filesystem"],
    "fstream": ["ifstream", "ofstream"],
    "functional": ["function", "greater", "less", "hash"],
    "future": ["async", "future", "promise"],
    "iterator": ["back_inserter", "istreambuf_iterator"],
    "limits": ["numeric_limits"],
    "map": ["map", "multimap"],
    "memory": ["make_shared", "make_unique", "shared_ptr", "unique_ptr"],
    "mutex": ["lock_guard", "mutex", "scoped_lock", "unique_lock"],
    "numeric": ["accumulate", "gcd", "iota", "partial_sum"],
    "optional": ["nullopt", "optional"],
    "queue": ["priority_queue", "queue"],
    "random": ["mt19937", "mt19937_64"],
    "regex": ["regex"],
    "set": ["set", "multiset"],
    "span": ["span"],
    "sstream": ["istringstream", "ostringstream", "stringstream"],
    "stdexcept": ["invalid_argument", "logic_error", "out_of_range", "runtime_error"],
    "thread": ["thread", "this_thread"],
    "tuple": ["make_tuple", "tie", "tuple"],
    "unordered_map": ["unordered_map", "unordered_multimap"],
    "unordered_set": ["unordered_set"],
    "variant": ["variant"],
    "vector": ["vector"],
}
# Headers that include others, as the standard requires or as every library does.
BRINGS = {"stdint.h": ["cstdint"], "stdio.h": ["cstdio"], "stdlib.h": ["cstdlib"], "string.h": ["cstring"], "cuda.h": ["cstdint", "cstdlib"],
          "cupti.h": ["cstdint"], "gtest/gtest.h": ["cstdint"], "nvtx3/nvToolsExt.h": ["cstdint"], "map": ["functional"], "set": ["functional"], "unordered_map": ["functional"], "unordered_set": ["functional"], "queue": ["functional"]}
HEADER_OF = {name: header for header, names in NEEDS.items() for name in names}
# The integer types are also used without "std::".
USED = re.compile(r"\b(?:std::|(?=u?int(?:8|16|32|64|ptr)_t\b))(" + "|".join(sorted(HEADER_OF, key=len, reverse=True)) + r")\b")


@functools.cache
def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as source:
        return source.read()


@functools.cache
def includes_of(path):
    """(standard headers, paths of the project's headers)"""
    standard, own = set(), []
    for quote, target in INCLUDE.findall(text_of(path)):
        beside = os.path.join(os.path.dirname(path), target)
        found = next((each for each in (os.path.join(ROOT, target), beside) if quote == '"' and os.path.exists(each)), None)
        if found:
            own.append(os.path.normpath(found))
        else:
            standard.add(target)
    return standard, own


def reached(path):
    seen, waiting, standard = {path}, [path], set()
    while waiting:
        has, own = includes_of(waiting.pop())
        standard |= has
        for each in own:
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return standard | {more for header in standard for more in BRINGS.get(header, [])}


def main():
    looked_at = violations = 0
    for area in ("preload", "analyzer", "tests", "docs"):
        for folder, _, names in os.walk(os.path.join(ROOT, area)):
            for name in sorted(names):
                if not name.endswith((".h", ".cpp")):
                    continue
                path = os.path.normpath(os.path.join(folder, name))
                looked_at += 1
                there = reached(path)
                code = SKIPPED.sub(lambda match: "\n" * match.group().count("\n"), text_of(path))
                told = set()
                for match in USED.finditer(code):
                    header = HEADER_OF[match.group(1)]
                    if header in there or header in told:
                        continue
                    told.add(header)
                    violations += 1
                    line = code.count("\n", 0, match.start()) + 1
                    print(f"{os.path.relpath(path, ROOT)}:{line}: std::{match.group(1)} needs #include <{header}>")
    print(f"RESULT {looked_at} files, {violations} violations")
    return 1 if violations or not looked_at else 0


ROOT = sys.argv[1]
sys.exit(main())
