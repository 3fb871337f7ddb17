#!/usr/bin/env python3
"""Writes preload/capture/cupti/cupti_fields.def from the headers of CUPTI 13.2 and newer: where each field of a
user-defined record (CUpti_Activity*FieldIds) is in the record with all fields. The headers name the member of each
field id in a comment. The table is of the newest headers; every older one must agree with it, because the recorder has
one table for all.

Usage: cupti_fields.py --cuda FOLDER HEADERS... [--compiler CXX]     folders with cupti_activity.h, the newest last
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "preload" / "capture" / "cupti" / "cupti_fields.def"
# The kinds whose records have these fields. The headers name them only in texts.
KINDS = {"Memcpy": [1], "Memset": [2], "Kernel": [3, 10], "Api": [4, 5, 48], "Device": [8], "Context": [9], "Name": [11],
         "Marker": [12], "MarkerData": [13], "Overhead": [17], "Environment": [20], "Memcpy2": [22], "UvmCounter": [25],
         "OpenAccData": [33], "OpenAccLaunch": [34], "OpenAccOther": [35], "CudaEvent": [36], "Stream": [37], "Synchronization": [38],
         "ExternalCorrelation": [39], "NvLink": [40], "Pcie": [46], "OpenMp": [47], "Memory": [49], "MemoryPool": [50],
         "GraphTrace": [51], "Jit": [52], "DeviceGraphTrace": [53], "MemDecompress": [54], "ConfidentialComputeRotation": [55],
         "GraphHostNode": [56], "ComputeEngineCtxSwitch": [57], "HostLaunch": [58], "GreenContext": [59]}
TIMES = re.compile(r"_FIELD_(START|END|COMPLETED|QUEUED|SUBMITTED|TIMESTAMP|DEVICE_TIMESTAMP)$")
THREADS = re.compile(r"(API|MARKER|OVERHEAD|JIT|GRAPH_HOST_NODE|HOST_LAUNCH)_FIELD_THREAD_ID$")
# Members that the comments do not name as the struct does.
MEMBERS = {"KERNEL_FIELD_CACHE_CONFIG_REQUESTED": "cacheConfig", "KERNEL_FIELD_CACHE_CONFIG_EXECUTED": "cacheConfig",
           "KERNEL_FIELD_PARTITIONED_GLOBAL_CACHE_REQUESTED": "partitionedGlobalCacheRequested",
           "KERNEL_FIELD_PARTITIONED_GLOBAL_CACHE_EXECUTED": "partitionedGlobalCacheExecuted",
           "MARKER_FIELD_PROCESS_ID": "objectId.pt.processId", "MARKER_FIELD_THREAD_ID": "objectId.pt.threadId",
           "OVERHEAD_FIELD_PROCESS_ID": "objectId.pt.processId", "OVERHEAD_FIELD_THREAD_ID": "objectId.pt.threadId",
           "MEM_DECOMPRESS_FIELD_CHANNEL_ID": "channelID", "SYNCHRONIZATION_FIELD_END": "end"}
# Where CUPTI 13.5 gives the bytes of the struct's member, and the comment says more.
AS_IN_STRUCT = {"KERNEL_FIELD_CONTEXT_ID", "KERNEL_FIELD_STREAM_ID", "SYNCHRONIZATION_FIELD_CUDA_EVENT_ID", "DEVICE_GRAPH_TRACE_FIELD_CONTEXT_ID"}
UNION = {"MEMORY_FIELD_POOL_SIZE", "MEMORY_FIELD_POOL_PROCESS_ID"}
BITS = {"KERNEL_FIELD_CACHE_CONFIG_REQUESTED": "Low4", "KERNEL_FIELD_CACHE_CONFIG_EXECUTED": "High4"}


def fields(headers):
    """[(name of the enum, struct, field id's name, its number, type, member)]"""
    text = (headers / "cupti_activity.h").read_text()
    rows = []
    for match in re.finditer(r"typedef enum\s*\{((?:(?!typedef).)*?)\} CUpti_Activity(\w+)FieldIds;", text, re.S):
        structs = [name for name in re.findall(r"\} (CUpti_Activity\w+);", text[:match.start()]) if not name.endswith("FieldIds")]
        number = -1
        for comment, name, value in re.findall(r"/\*\*(.*?)\*/\s*(\w+_FIELD_\w+)(\s*=\s*\d+)?", match.group(1), re.S):
            number = int(value.strip(" =")) if value else number + 1
            if name.endswith("_FIELD_MAX"):
                continue
            declared = re.search(r"^\s*\*?\s*([^;]+?)\s*([\w\.]+)(\[\w+\])?\s*;", comment)
            kind, member, array = declared.groups() if declared else ("?", "?", None)
            kind = "" if array or kind == "union" or name in AS_IN_STRUCT else kind  # "": as in the struct
            rows.append((match.group(2), structs[-1], name, number, kind, MEMBERS.get(name, member)))
    return rows


def measure(options, headers, rows):
    """{(kind, number of the field): (offset, size in the struct, size in a user-defined record, what, name)}"""
    lines = ["#include <cuda.h>", "#include <cupti_activity.h>", "#include <cstddef>", "#include <cstdio>", "int main() {"]
    for index, (_, struct, _, _, kind, member) in enumerate(rows):
        size = f"sizeof({kind})" if kind else f"sizeof((({struct}*)nullptr)->{member})"
        lines.append(f'  printf("{index} %zu %zu %zu\\n", offsetof({struct}, {member}), sizeof((({struct}*)nullptr)->{member}), {size});')
    lines.append("}")
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder) / "fields.cpp", pathlib.Path(folder) / "fields"
        source.write_text("\n".join(lines))
        subprocess.run([options.compiler, "-w", f"-I{headers}", f"-I{options.cuda}", source, "-o", program], check=True)
        text = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    table = {}
    for line in text.splitlines():
        index, offset, inside, size = map(int, line.split())
        enum, _, name, number, _, _ = rows[index]
        what = BITS.get(name) or ("Time" if TIMES.search(name) else "Thread" if THREADS.search(name) else "Plain")
        for kind in KINDS[enum]:
            table[kind, number] = (offset, inside, size, what, name)
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs="+", type=pathlib.Path)
    parser.add_argument("--cuda", required=True, type=pathlib.Path, help="folder that holds cuda.h")
    parser.add_argument("--compiler", default="c++")
    options = parser.parse_args()
    newest, wrong = {}, 0  # wrong: what the table of the newest headers would be wrong about
    declared = set(re.findall(r"CUpti_Activity(\w+)FieldIds;", (options.headers[-1] / "cupti_activity.h").read_text()))
    read = {row[0] for row in fields(options.headers[-1])}
    if declared != set(KINDS) or declared != read:
        sys.exit(f"without a kind: {sorted(declared ^ set(KINDS))}, not read: {sorted(declared - read)}")
    for headers in options.headers:
        table = measure(options, headers, fields(headers))
        for key, found in newest.items():
            if table.get(key) != found:
                print(f"{headers}: kind {key[0]}, field {key[1]}: {table.get(key)}, before {found}", file=sys.stderr)
                wrong += 1
        newest = table
    for (kind, number), (offset, _, _, what, name) in newest.items():
        same = [row[4] for (other, _), row in newest.items() if other == kind and row[0] == offset and row[4] != name]
        if same and what not in ("Low4", "High4") and name not in UNION:
            print(f"kind {kind}: {name} is where {', '.join(same)} is: a comment of the headers is wrong", file=sys.stderr)
            wrong += 1
    version = re.search(r"#define CUPTI_API_VERSION (\d+)", (options.headers[-1] / "cupti_version.h").read_text()).group(1)
    text = ["// Where is each field of a user-defined record in CUPTI's record with all fields?",
            "// CUPTI_FIELD(kind, field id, offset, bytes there, bytes in a user-defined record, what it is)",
            f"// cupti_record_layout.cpp includes it. Written by scripts/cupti_fields.py for CUPTI_API_VERSION {version}."]
    for (kind, number), (offset, inside, size, what, name) in sorted(newest.items()):
        text.append(f"CUPTI_FIELD({kind}, {number}, {offset}, {inside}, {size}, {what})  // {name}")
    OUTPUT.write_text("\n".join(text) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
