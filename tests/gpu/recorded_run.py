"""Launches, GPU operations and their assignment, as the independent reader finds them; the checks compare prof with it.

They are joined by containment and correlation id as in docs/architecture.md ("Correlation"), without any code of prof.
    python3 recorded_run.py LOG    prints the result
"""
import bisect
import collections
import sys

from plog import Log

NO_GPU_TIMES = 2  # flag of a launch: GPU activity was not being collected


class Launch:
    __slots__ = ("begin", "end", "kind", "stream", "depth", "flags", "result", "thread", "operations", "what")


class Run:
    """What the checks need from a log: launches, GPU operations, and to which launch each belongs."""

    def __init__(self, path):
        self.log = log = Log(path)
        self.by_kind = collections.Counter()
        self.launches = []           # Launch, by thread and time
        # (kind, start, duration, correlation, gpu stream, name or copy kind, from graph, bytes)
        self.operations = []
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
        """CUPTI's time for a tick of the log's clock."""
        c = self.clock
        delta = tick - c.base_tick
        return c.base_ns + ((delta * c.multiplier) >> c.shift)

    def _match(self):
        """Joins operations to launches: a driver call is inside one launch of its thread, and the operation has its
        correlation id."""
        self.unmatched = []
        self.call_without_launch = 0
        if self.clock is None:
            self.unmatched = list(self.operations)
            return
        by_tid = collections.defaultdict(list)
        for launch in self.launches:
            by_tid[self.tids.get(launch.thread)].append((self.gpu_ns(launch.begin), self.gpu_ns(launch.end), launch))
        owner, driver_id = {}, {}
        for tid, pairs in self.calls.items():
            spans = sorted(by_tid.get(tid, []), key=lambda span: span[0])
            begins = [span[0] for span in spans]
            for time, correlation in pairs:
                at = bisect.bisect_right(begins, time) - 1
                if at >= 0 and time <= spans[at][1]:
                    owner[correlation] = spans[at][2]
                    driver_id[id(spans[at][2])] = correlation
                else:
                    self.call_without_launch += 1
        for tid, pairs in self.runtime_calls.items():  # a span around exactly one launch that no other call made
            spans = sorted(by_tid.get(tid, []), key=lambda span: span[0])
            begins = [span[0] for span in spans]
            for (start, correlation), (end, same) in zip(pairs[::2], pairs[1::2]):
                inside = [span[2] for span in spans[bisect.bisect_left(begins, start):bisect.bisect_right(begins, end)]
                          if span[1] <= end and driver_id.get(id(span[2]), correlation) == correlation]
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
        """Launches, and how many of those that must have GPU operations have them."""
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

    def depths(self, when=lambda launch: launch.begin):
        """The error of the live depth: (live, exact) per timed launch; exact = operations on the same stream whose launch
        had returned, and that had not ended, when this launch was entered. A launch that another thread is inside may
        come later in the stream."""
        pairs = []
        by_stream = collections.defaultdict(list)
        for launch in self.launches:
            if launch.operations and launch.flags & 1 == 0:
                by_stream[launch.stream].append(launch)
        for launches in by_stream.values():
            launches.sort(key=lambda launch: launch.begin)
            ends = []            # GPU end times of all launches on this stream that have returned, sorted
            returns = sorted(launches, key=lambda launch: launch.end)
            returned = 0
            for launch in launches:
                now = self.gpu_ns(when(launch))
                while returned < len(returns) and returns[returned].end <= launch.begin:
                    for op in returns[returned].operations:
                        bisect.insort(ends, op[1] + op[2])
                    returned += 1
                pairs.append((launch.depth, len(ends) - bisect.bisect_right(ends, now)))
        return pairs

    def inversions(self):
        """Operations that start before their launch was entered; must be 0 unless the clocks disagree."""
        return sum(1 for launch in self.launches for op in launch.operations if op[1] < self.gpu_ns(launch.begin))

    def last_launch_ns(self):
        return max((self.gpu_ns(launch.end) for launch in self.launches), default=0) if self.clock else 0

    def last_gpu_end_ns(self):
        return max((op[1] + op[2] for op in self.operations), default=0)

    def gaps(self):
        """GPU start − previous GPU end for each stream, by position: [(launch order in stream, gap ns)]."""
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
