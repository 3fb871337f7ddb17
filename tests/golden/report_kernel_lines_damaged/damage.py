"""damage.py CUBIN KIND: writes a damaged copy of a cubin to KIND.cubin.

stripped: no symbol table. cut: the end of the file is missing. rows: the rows of the line table are 0xff bytes.
nowhere: the relocations of the line table name symbols that do not exist. declared: the line table declares 2^40 bytes.
"""

import struct
import sys
from pathlib import Path

cubin, kind = Path(sys.argv[1]), sys.argv[2]
data = bytearray(cubin.read_bytes())
table, = struct.unpack_from("<Q", data, 40)
size, count, names_at = struct.unpack_from("<HHH", data, 58)


def header(number: int) -> tuple[int, int, int, int]:
    """Where the header of a section is, the offset of its name, and the offset and bytes of its contents."""
    at = table + number * size
    name, = struct.unpack_from("<I", data, at)
    return at, name, *struct.unpack_from("<QQ", data, at + 24)


def section(wanted: str) -> tuple[int, int, int]:
    for number in range(count):
        at, name, offset, length = header(number)
        start = header(names_at)[2] + name
        if data[start:data.index(0, start)].decode() == wanted:
            return at, offset, length
    raise SystemExit(f"no section {wanted}")


if kind == "stripped":
    struct.pack_into("<I", data, section(".symtab")[0] + 4, 0)
elif kind == "cut":
    del data[len(data) // 2:]
elif kind == "rows":
    _, offset, length = section(".debug_line")
    data[offset + 64:offset + length] = b"\xff" * (length - 64)
elif kind == "nowhere":
    _, offset, length = section(".rela.debug_line")
    for entry in range(offset, offset + length, 24):
        struct.pack_into("<Q", data, entry + 8, 0xffffff << 32 | 2)
elif kind == "declared":
    struct.pack_into("<Q", data, section(".debug_line")[0] + 32, 1 << 40)
Path(kind + ".cubin").write_bytes(data)
