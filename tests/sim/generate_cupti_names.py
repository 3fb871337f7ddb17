#!/usr/bin/env python3
"""Writes the tables of callback and result names that the simulated CUPTI returns, from CUPTI's own headers.

Called by tests/sim/CMakeLists.txt: generate_cupti_names.py OUTPUT INCLUDE_FOLDER..."""
import pathlib
import re
import sys

TABLES = (("kDriverNames", "cupti_driver_cbid.h", r"CUPTI_DRIVER_TRACE_CBID_(cu\w+)\s*=\s*(\d+)"),
          ("kRuntimeNames", "cupti_runtime_cbid.h", r"CUPTI_RUNTIME_TRACE_CBID_(cuda\w+)\s*=\s*(\d+)"),
          ("kResultNames", "cupti_result.h", r"^\s*(CUPTI_(?:SUCCESS|ERROR_\w+))\s*=\s*(\d+)"))

output, folders = sys.argv[1], [pathlib.Path(folder) for folder in sys.argv[2:]]
lines = []
for table, header, pattern in TABLES:
    text = next(folder / header for folder in folders if (folder / header).exists()).read_text()
    lines.append(f"constexpr CallbackName {table}[] = {{")
    lines += [f'    {{{value}, "{name}"}},' for name, value in re.findall(pattern, text, re.M)]
    lines.append("};")
pathlib.Path(output).write_text("\n".join(lines) + "\n")
