"""An independent reader of libprof's log, for checks that must not depend on prof.

It knows the containers (docs/log_format.md) and no single events: a log's own kind table gives the fields of a record,
so there is no list of events here. It is slow compared with prof (about 300,000 records a second) and does not repair
damage: a block that does not decode raises Damage.
"""
import collections
import keyword
import struct

FILE_MAGIC = 0x0a474f4c46525089
BLOCK_MAGIC = 0x314b4250
EVENTS = 1  # kind of a block
MASK64 = (1 << 64) - 1


class Damage(Exception):
    pass


def long_varint(data, at, low):
    """Reads the rest of a varint whose first byte `low` had its top bit set; `at` is the position after that byte."""
    value, shift = low & 0x7f, 7
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value & MASK64, at
        shift += 7
        if shift > 63:
            raise Damage(f"varint of more than 10 bytes at {at}")


def unzigzag(value):
    return (value >> 1) ^ -(value & 1)


class Kind:
    def __init__(self, line):
        parts = line.split()
        self.number, self.name = int(parts[0]), parts[1]
        # A field that has the name of a keyword of Python gets an underscore.
        self.fields = [(name + "_" * keyword.iskeyword(name), letter) for name, letter in (part.split(":") for part in parts[2:])]
        self.record = collections.namedtuple(self.name, [name for name, _ in self.fields])
        self.decode = self._compile()

    def _compile(self):
        """Returns a function (data, at, mask, deltas) -> (record, at); deltas = [tick, gpu_ns, correlation, graph_node,
        depth, GPU stream, step of the correlation ids, last difference of two]."""
        lines = ["def decode(d, i, mask, s):"]
        bit = 1

        def varint(name, indent):
            lines.extend([f"{indent}{name} = d[i]; i += 1", f"{indent}if {name} >= 128: {name}, i = long_varint(d, i, {name})"])

        def quick(name, indent):
            """2, 3, 4 or 9 bytes: the two lowest bits of the first one give the size"""
            lines.append(f"{indent}size = (2, 3, 4, 9)[d[i] & 3]; {name} = int.from_bytes(d[i:i + size], 'little') >> (8 if size == 9 else 2); i += size")

        def take(state, name, indent):
            """the id `name` comes after those of `state` = (last id, step, last difference)"""
            last, step, difference = state
            lines.append(f"{indent}a = {name} - {last} & 0xffffffff")
            lines.append(f"{indent}if a == {difference}: {step} = a")
            lines.append(f"{indent}{difference} = a; {last} = {name}")

        def spans(name, indent):
            """starts and ends of calls; count was read"""
            local = ("last", "step", "difference")
            lines.append(f"{indent}count = {name}; {name} = []; last, step, difference = s[2], 1, 1; shift = d[i]; i += 1")
            varint("length", indent)
            lines.append(f"{indent}if count:")
            inner = indent + "    "
            varint("a", inner)
            lines.append(f"{inner}at = s[1] + unzigzag(a) & MASK64")
            lines.append(f"{inner}for _ in range(count):")
            varint("a", inner + "    ")
            lines.append(f"{inner}    at += a >> 1 << shift; units = length; call = last + step & 0xffffffff")
            lines.append(f"{inner}    if a & 1:")
            varint("a", inner + "        ")
            lines.append(f"{inner}        call = call + unzigzag(a >> 1) & 0xffffffff")
            lines.append(f"{inner}        if a & 1:")
            varint("units", inner + "            ")
            take(local, "call", inner + "    ")
            lines.append(f"{inner}    {name} += [(at, call), (at + (units << shift), call)]")
            varint("a", inner)
            lines.append(f"{inner}{name}[-1] = ({name}[-1][0] - a, call)")

        def moments(name, indent):
            """times of calls, in units; count was read"""
            local = ("last", "step", "difference")
            lines.append(f"{indent}count = {name}; {name} = []; shift = d[i]; i += 1; step = difference = 1")
            lines.append(f"{indent}for k in range(count):")
            inner = indent + "    "
            varint("a", inner)
            lines.append(f"{inner}if k == 0:")
            varint("b", inner + "    ")
            lines.append(f"{inner}    at = s[1] + unzigzag(a) & MASK64; last = s[2] + unzigzag(b) & 0xffffffff")
            lines.append(f"{inner}else:")
            lines.append(f"{inner}    at = (at >> shift) + (a >> 1) << shift; call = last + step & 0xffffffff")
            lines.append(f"{inner}    if a & 1:")
            varint("b", inner + "        ")
            lines.append(f"{inner}        call = call + unzigzag(b) & 0xffffffff")
            take(local, "call", inner + "    ")
            lines.append(f"{inner}{name}.append((at, last))")

        def body(name, letter, indent):
            if letter in "TV":
                quick(name, indent)
                if letter == "T":
                    lines.append(f"{indent}{name} = s[0] = (s[0] + {name}) & MASK64")
                return
            varint(name, indent)
            if letter == "v":
                pass
            elif letter == "s":
                lines.append(f"{indent}{name} = unzigzag({name})")
            elif letter == "t":
                lines.append(f"{indent}{name} = s[0] = (s[0] + {name}) & MASK64")
            elif letter == "g":
                lines.append(f"{indent}{name} = s[1] = (s[1] + unzigzag({name})) & MASK64")
            elif letter in "ck":
                lines.append(f"{indent}{name} = s[2] = (s[2] + unzigzag({name})) & 0xffffffff")
            elif letter == "n":
                lines.append(f"{indent}{name} = s[3] = (s[3] + unzigzag({name})) & MASK64")
            elif letter == "d":
                lines.append(f"{indent}{name} = s[4] = (s[4] + unzigzag({name})) & MASK64")
            elif letter == "r":
                lines.append(f"{indent}s[5] = {name}")
            elif letter == "W":
                moments(name, indent)
            elif letter == "U":
                spans(name, indent)
            elif letter == "w":  # times of calls, in units, of older logs
                lines.append(f"{indent}count = {name}; {name} = []; unit = d[i]; i += 1")
                lines.append(f"{indent}for k in range(count):")
                varint("a", indent + "    ")
                lines.append(f"{indent}    s[1] = s[1] + unzigzag(a) & MASK64 if k == 0 else (s[1] >> unit) + (a >> 1) << unit")
                lines.append(f"{indent}    if k == 0 or a & 1:")
                body("b", "c", indent + "        ")
                lines.append(f"{indent}    else: s[2] = s[2] + 1 & 0xffffffff")
                lines.append(f"{indent}    {name}.append((s[1], s[2]))")
            elif letter == "x":
                lines.extend([f"{indent}end = i + {name}", f"{indent}{name} = bytes(d[i:end]); i = end"])
            elif letter == "a":
                lines.append(f"{indent}count = {name}; {name} = []; last = 0")
                lines.append(f"{indent}for _ in range(count):")
                varint("a", indent + "    ")
                lines.append(f"{indent}    last = last + unzigzag(a) & MASK64; {name}.append(last)")
            elif letter in "pq":
                lines.append(f"{indent}count = {name}; {name} = []")
                lines.append(f"{indent}for k in range(count):")
                varint("a", indent + "    ")
                if letter == "p":
                    lines.append(f"{indent}    a = s[0] = (s[0] + a) & MASK64")
                else:  # the first one may go backwards, the others only forwards
                    lines.append(f"{indent}    a = s[1] = (s[1] + (a if k else unzigzag(a))) & MASK64")
                body("b", "c", indent + "    ")
                lines.append(f"{indent}    {name}.append((a, b))")
            else:
                raise Damage(f"kind {self.name}: field encoding {letter!r} is not known")

        names = []
        for name, letter in self.fields:
            variable = "f_" + name
            names.append(variable)
            if letter == "?k":  # with the &r after it; if neither is stored, it is the next launch on the same stream
                lines.append(f"    follows = not mask & {bit}")
                lines.append(f"    if follows: {variable} = s[2] = s[2] + 1 & 0xffffffff")
                lines.append("    else:")
                body(variable, "k", "        ")
                bit <<= 1
            elif letter == "?K":  # with the &R after it; if neither is stored, it is the expected launch on the same stream
                lines.append(f"    {variable} = s[2] + s[6] & 0xffffffff; stream = 0")
                lines.append(f"    if mask & {bit}:")
                varint("b", "        ")
                lines.append(f"        {variable} = {variable} + unzigzag(b >> 1) & 0xffffffff; stream = b & 1")
                take(("s[2]", "s[6]", "s[7]"), variable, "    ")
                bit <<= 1
            elif letter == "&R":
                lines.append("    if stream:")
                varint("b", "        ")
                lines.append("        s[5] = b")
                lines.append(f"    {variable} = s[5]")
            elif letter == "&r":
                lines.append(f"    if follows: {variable} = s[5]")
                lines.append("    else:")
                body(variable, "r", "        ")
            elif letter.startswith("?"):
                empty = "b''" if letter == "?x" else "0"
                lines.append(f"    {variable} = {empty}")
                lines.append(f"    if mask & {bit}:")
                body(variable, letter[1:], "        ")
                bit <<= 1
            else:
                body(variable, letter, "    ")
        lines.append(f"    return record({', '.join(names)}), i")
        scope = {"long_varint": long_varint, "unzigzag": unzigzag, "MASK64": MASK64, "record": self.record}
        exec("\n".join(lines), scope)
        return scope["decode"]


class Block:
    __slots__ = ("index", "kind", "sealed", "thread", "committed", "sequence", "base_tick", "in_call_api", "in_call_tick")


class Log:
    """blocks, kinds {number: Kind}, counters {name: n}, header fields; records() reads everything once."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.path = path
        data = self.data
        if len(data) < 72:
            raise Damage(f"{path}: {len(data)} bytes, no log")
        (magic, self.version, header_bytes, self.block_bytes, self.pid, self.clock, self.backing, self.start_tick,
         self.start_monotonic_ns, self.start_realtime_ns, self.ticks_per_second, kind_bytes,
         counter_bytes) = struct.unpack_from("<QIIIIIIQQQQII", data, 0)
        if magic != FILE_MAGIC:
            raise Damage(f"{path}: magic {magic:#x}")
        kinds = data[72:72 + kind_bytes].decode().splitlines()
        names = data[72 + kind_bytes:72 + kind_bytes + counter_bytes].decode().splitlines()
        self.kinds = {kind.number: kind for kind in map(Kind, filter(None, kinds))}
        page = header_bytes
        _, self.finished, self.blocks_reserved, self.gpu_pending = struct.unpack_from("<QQQQ", data, page)
        values = struct.unpack_from(f"<{len(names)}Q", data, page + 96)
        self.counters = dict(zip((name.split()[0] for name in names), values))
        self.first_block = header_bytes + 4096

    def blocks(self):
        size = self.block_bytes
        for index, at in enumerate(range(self.first_block, len(self.data) - size + 1, size)):
            magic, kind, flags, thread, committed = struct.unpack_from("<IHHII", self.data, at)
            if magic == 0:
                continue
            if magic != BLOCK_MAGIC:
                raise Damage(f"{self.path}: block {index} has magic {magic:#x}")
            block = Block()
            block.index, block.kind, block.sealed, block.thread, block.committed = index, kind, flags & 1, thread, committed
            (block.sequence, block.base_tick, block.in_call_tick,
             block.in_call_api) = struct.unpack_from("<QQQI", self.data, at + 16)
            yield block

    def records(self, wanted=lambda block: True):
        """(block, record) of the wanted blocks in file order; the records of one (thread, kind) are in order after
        sorting by sequence."""
        data, kinds = self.data, self.kinds
        for block in sorted(filter(wanted, self.blocks()), key=lambda b: (b.thread, b.kind, b.sequence)):
            at = self.first_block + block.index * self.block_bytes + 64
            end = at + block.committed
            deltas = [block.base_tick, 0, 0, 0, 0, 0, 1, 1]
            try:
                while at < end:
                    tag = data[at]
                    at += 1
                    if tag >= 128:
                        tag, at = long_varint(data, at, tag)
                    record, at = kinds[tag >> 3].decode(data, at, tag & 7, deltas)
                    yield block, record
            except (KeyError, IndexError) as error:
                raise Damage(f"{self.path}: block {block.index} byte {at}: {error!r}") from error
            if at != end:
                raise Damage(f"{self.path}: block {block.index}: a record crosses `committed`")
