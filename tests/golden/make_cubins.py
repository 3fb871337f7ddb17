#!/usr/bin/env python3
"""Writes a file of cubins as the recorder leaves it beside a log (docs/log_format.md).

Usage: make_cubins.py OUT CRC=FILE... [--cut BYTES]"""
import argparse
import pathlib
import struct

MAGIC = 0x534E494255434250


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("cubins", nargs="+", metavar="CRC=FILE")
    parser.add_argument("--cut", type=int, help="write only the first bytes")
    args = parser.parse_args()
    contents = []
    for each in args.cubins:
        crc, _, path = each.partition("=")
        contents.append((int(crc, 0), pathlib.Path(path).read_bytes()))
    head, bodies = struct.pack("<QII", MAGIC, 1, len(contents)), b""
    start = len(head) + 24 * len(contents)
    for crc, body in contents:
        head += struct.pack("<QQQ", crc, start + len(bodies), len(body))
        bodies += body
    pathlib.Path(args.out).write_bytes((head + bodies)[:args.cut])


main()
