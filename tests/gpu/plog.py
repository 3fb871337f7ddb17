"""An independent reader of libprof's log, for checks that must not lean on prof.

It knows the containers (docs/log_format.md) and nothing about single events: a log's own kind table says which fields a
record has, so no list of events is kept here. Slow beside prof (about 300,000 records a second), and it does not repair
damage: a block that does not decode raises Damage.
"""
import bisect
import collections
import struct
import sys

FILE_MAGIC = 0x0a474f4c46525089
BLOCK_MAGIC = 0x314b4250
NO_GPU_TIMES = 2  # flag of a launch: GPU activity was not being collected
MASK64 = (1 << 64) - 1


class Damage(Exception):
    pass


def long_varint(data, at, low):
    """The rest of a varint whose first byte `low` had its top bit set; `at` is behind that byte."""
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
        self.fields = [tuple(part.split(":")) for part in parts[2:]]
        self.record = collections.namedtuple(self.name, [name for name, _ in self.fields])
        self.decode = self._compile()

    def _compile(self):
        """A function (data, at, mask, deltas) -> (record, at); deltas = [tick, gpu_ns, correlation, graph_node, depth, GPU stream]."""
        lines = ["def decode(d, i, mask, s):"]
        bit = 1

        def varint(name, indent):
            lines.extend([f"{indent}{name} = d[i]; i += 1", f"{indent}if {name} >= 128: {name}, i = long_varint(d, i, {name})"])

        def body(name, letter, indent):
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
            elif letter == "w":  # moments of calls, in units
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
                else:  # the first one goes either way, the others only forward
                    lines.append(f"{indent}    a = s[1] = (s[1] + (a if k else unzigzag(a))) & MASK64")
                body("b", "c", indent + "    ")
                lines.append(f"{indent}    {name}.append((a, b))")
            else:
                raise Damage(f"kind {self.name}: field encoding {letter!r} is not known")

        names = []
        for name, letter in self.fields:
            variable = "f_" + name
            names.append(variable)
            if letter == "?k":  # with the &r behind it; neither stored: the next launch on the same stream
                lines.append(f"    follows = not mask & {bit}")
                lines.append(f"    if follows: {variable} = s[2] = s[2] + 1 & 0xffffffff")
                lines.append("    else:")
                body(variable, "k", "        ")
                bit <<= 1
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
    """blocks, kinds {number: Kind}, counters {name: n}, header fields; records() walks everything once."""

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

    def records(self):
        """(block, record) in file order; the records of one (thread, kind) are in order after sorting by sequence."""
        data, kinds = self.data, self.kinds
        for block in sorted(self.blocks(), key=lambda b: (b.thread, b.kind, b.sequence)):
            at = self.first_block + block.index * self.block_bytes + 64
            end = at + block.committed
            deltas = [block.base_tick, 0, 0, 0, 0, 0]
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


class Launch:
    __slots__ = ("begin", "end", "kind", "stream", "depth", "flags", "result", "thread", "operations", "what")


class Run:
    """What the checks want to know about a log: launches, GPU operations, and which belongs to which."""

    def __init__(self, path):
        self.log = log = Log(path)
        self.by_kind = collections.Counter()
        self.launches = []           # Launch, by thread and time
        self.operations = []         # (kind, start, duration, correlation, gpu stream, name or copy kind, from graph, bytes)
        self.meta, self.anchors, self.unhooked = {}, [], []
        strings, kernels, gpu_streams, tids = {}, {}, {}, {}
        calls = collections.defaultdict(list)   # tid -> [(gpu ns, correlation)]
        self.runtime_calls = collections.defaultdict(list)  # tid -> [start, end, start, …], both (gpu ns, correlation)
        clock, apis, api_calls = None, {}, collections.Counter()
        for block, r in log.records():
            name = type(r).__name__
            self.by_kind[name] += 1
            if name in ("kernel_launch", "memory_launch", "graph_launch"):
                launch = Launch()
                launch.begin, launch.end, launch.kind, launch.stream = r.end - r.duration, r.end, name, r.stream
                launch.depth, launch.flags, launch.result = r.depth, r.flags, r.result
                launch.thread, launch.operations = block.thread, []
                launch.what = r.config if name == "kernel_launch" else r.api
                self.launches.append(launch)
            elif name == "kernel_run":
                self.operations.append(("kernel", r.start, r.duration, r.correlation, r.stream, r.kernel, r.graph_node != 0, 0))
            elif name == "copy_run":
                self.operations.append(("copy", r.start, r.duration, r.correlation, r.stream, r.kind & 0xff, r.graph_node != 0, r.bytes))
            elif name == "fill_run":
                self.operations.append(("fill", r.start, r.duration, r.correlation, r.stream, 0, r.graph_node != 0, r.bytes))
            elif name == "graph_run":
                self.operations.append(("graph", r.start, r.duration, r.correlation, r.stream, r.graph, True, 0))
            elif name == "driver_calls":
                calls[r.tid].extend(r.calls)
            elif name == "runtime_calls":
                self.runtime_calls[r.tid].extend(r.calls)
            elif name == "api_call":
                api_calls[r.api] += 1
            elif name == "string":
                strings[r.id] = strings.get(r.id, b"") + r.text
            elif name == "gpu_kernel":
                kernels[r.id] = r
            elif name == "gpu_stream":
                gpu_streams[r.id] = (r.device, r.context, r.stream)
            elif name == "thread":
                tids[r.thread] = r.tid
            elif name == "api":
                apis[r.id] = r.name.decode()
            elif name == "meta":
                self.meta[r.key.decode()] = r.value.decode(errors="replace")
            elif name == "gpu_clock":
                clock = r
            elif name == "clock_anchor":
                self.anchors.append((r.tick, r.monotonic_ns, r.realtime_ns))
            elif name == "unhooked_api":
                self.unhooked.append(r.name.decode())
        self.clock, self.gpu_streams, self.calls, self.tids = clock, gpu_streams, calls, tids
        self.api_calls = {apis.get(api, str(api)): count for api, count in api_calls.items()}
        self.kernel_names = {key: strings.get(k.name, b"?").decode(errors="replace") for key, k in kernels.items()}
        self.apis = apis
        self._match()

    def gpu_ns(self, tick):
        """CUPTI's time of a tick of the log's clock."""
        c = self.clock
        delta = tick - c.base_tick
        return c.base_ns + ((delta * c.multiplier) >> c.shift)

    def _match(self):
        """Joins operations to launches: a driver call lies inside one launch of its thread, an operation has its id."""
        self.unmatched = []
        self.call_without_launch = 0
        if self.clock is None:
            self.unmatched = list(self.operations)
            return
        by_tid = collections.defaultdict(list)
        for launch in self.launches:
            by_tid[self.tids.get(launch.thread)].append((self.gpu_ns(launch.begin), self.gpu_ns(launch.end), launch))
        owner = {}
        for tid, pairs in self.calls.items():
            spans = sorted(by_tid.get(tid, []), key=lambda span: span[0])
            begins = [span[0] for span in spans]
            for time, correlation in pairs:
                at = bisect.bisect_right(begins, time) - 1
                if at >= 0 and time <= spans[at][1]:
                    owner[correlation] = spans[at][2]
                else:
                    self.call_without_launch += 1
        for tid, pairs in self.runtime_calls.items():  # a runtime call around exactly one launch
            spans = sorted(by_tid.get(tid, []), key=lambda span: span[0])
            begins = [span[0] for span in spans]
            for (start, correlation), (end, same) in zip(pairs[::2], pairs[1::2]):
                inside = [span[2] for span in spans[bisect.bisect_left(begins, start):bisect.bisect_right(begins, end)]
                          if span[1] <= end]
                if correlation == same and len(inside) == 1:
                    owner.setdefault(correlation, inside[0])
        for operation in self.operations:
            launch = owner.get(operation[3])
            if launch is None:
                self.unmatched.append(operation)
            else:
                launch.operations.append(operation)

    def kernel_table(self):
        """mangled name -> [runs, total ns]"""
        table = collections.defaultdict(lambda: [0, 0])
        for kind, _, duration, _, _, what, _, _ in self.operations:
            if kind == "kernel":
                row = table[self.kernel_names.get(what, "?")]
                row[0] += 1
                row[1] += duration
        return dict(table)

    def totals(self):
        """kind -> [operations, total ns, bytes]"""
        table = {"kernel": [0, 0, 0], "copy": [0, 0, 0], "fill": [0, 0, 0], "graph": [0, 0, 0]}
        for kind, _, duration, _, _, _, _, size in self.operations:
            row = table[kind]
            row[0] += 1
            row[1] += duration
            row[2] += size
        return table

    def coverage(self):
        """Launches, and of those that must have GPU work: how many have it."""
        seen = len(self.launches)
        captured = sum(1 for launch in self.launches if launch.flags & 1)
        failed = sum(1 for launch in self.launches if launch.result != 0)
        expected = [launch for launch in self.launches if launch.flags & 1 == 0 and launch.result == 0]
        timed = sum(1 for launch in expected if launch.operations)
        missing = collections.Counter()
        for launch in expected:
            if not launch.operations:
                what = self.apis.get(launch.what, "?") if launch.kind == "memory_launch" else launch.kind
                missing[f"{what}, flags {launch.flags}"] += 1
        by_kind = collections.Counter(launch.kind for launch in expected)
        unmatched = collections.Counter(
            self.kernel_names.get(op[5], "?") if op[0] == "kernel" else op[0] for op in self.unmatched)
        return {"launches": seen, "captured": captured, "failed": failed, "expected": len(expected), "timed": timed,
                "by_kind": dict(by_kind), "missing": dict(missing), "operations": len(self.operations),
                "operations_without_launch": len(self.unmatched), "without_launch": dict(unmatched.most_common(10)),
                "driver_calls_outside_launches": self.call_without_launch}

    def depths(self):
        """How far the live depth was off: (live, exact) per timed launch; exact = operations on the same stream launched
        earlier whose GPU work had not ended when this launch was entered."""
        pairs = []
        by_stream = collections.defaultdict(list)
        for launch in self.launches:
            if launch.operations and launch.flags & 1 == 0:
                by_stream[launch.stream].append(launch)
        for launches in by_stream.values():
            launches.sort(key=lambda launch: launch.begin)
            ends = []            # GPU end times of everything launched so far on this stream, sorted
            for launch in launches:
                now = self.gpu_ns(launch.begin)
                pairs.append((launch.depth, len(ends) - bisect.bisect_right(ends, now)))
                for op in launch.operations:
                    bisect.insort(ends, op[1] + op[2])
        return pairs

    def inversions(self):
        """Operations that start before their launch was entered; must be 0 unless the clocks disagree."""
        return sum(1 for launch in self.launches for op in launch.operations if op[1] < self.gpu_ns(launch.begin))

    def last_launch_ns(self):
        return max((self.gpu_ns(launch.end) for launch in self.launches), default=0) if self.clock else 0

    def last_gpu_end_ns(self):
        return max((op[1] + op[2] for op in self.operations), default=0)

    def gaps(self):
        """GPU start − previous GPU end per stream, by position: [(launch order in stream, gap ns)]."""
        by_stream = collections.defaultdict(list)
        for op in self.operations:
            if op[0] == "kernel":
                by_stream[op[4]].append((op[1], op[1] + op[2]))
        result = []
        for runs in by_stream.values():
            runs.sort()
            result.extend(max(0, after[0] - before[1]) for before, after in zip(runs, runs[1:]))
        return result


if __name__ == "__main__":
    run = Run(sys.argv[1])
    print(dict(run.by_kind))
    print(run.coverage())
    print(run.totals())
    print({name: count for name, count in run.log.counters.items() if count})
