"""Hardware counters in a log as `prof dump` prints it: the values of each launch and NVTX range, by the name of the
kernel or range, or "graph"."""
import struct


def decoded(text):
    """the bytes of a quoted string: valid UTF-8 is literal, all else is escaped"""
    return text.encode().decode("unicode_escape").encode("latin-1")


class Counters:
    def __init__(self, log):
        strings = {key: fields.get("text", "") for key, fields in log.names["string"].items()}
        work, sets, tids, tid, found = {}, {}, {}, None, []
        for kind, fields in log.records:
            if kind == "thread":
                tids[fields["thread"]] = fields["tid"]
        for kind, fields in log.records:
            if kind == "block":
                tid = tids.get(fields.get("thread"))
            elif kind in ("kernel_launch", "graph_launch"):
                key = (tid, fields["end"], "0")
                work.setdefault(key, []).append(log.name_of(kind, fields) if kind == "kernel_launch" else "graph")
            elif kind == "nvtx_push":
                work.setdefault((tid, fields["time"], "1"), []).append(log.name_of(kind, fields))
            elif kind == "counter_set":
                sets[fields["id"]] = decoded(strings[fields["metrics"]]).decode().split("\n")
            elif kind == "counter_values":
                found.append(fields)
        reasons = ("captured", "skipped", "failed", "no_session", "dropped", "unread")
        succeeded = sum(1 for kind, fields in log.records if kind in ("kernel_launch", "graph_launch") and fields.get("result", "0") == "0")
        self.unaccounted = succeeded - len(found) - sum(log.counters.get(f"counters_{reason}", 0) for reason in reasons)
        # (name, {metric: value}); the name is None if no launch or range, or more than one, is at that moment
        self.rows = []
        for fields in found:
            names = work.get((fields["tid"], fields["moment"], fields.get("scope", "0")), [])
            values = struct.unpack(f"<{len(sets[fields['set']])}d", decoded(fields["values"]))
            self.rows.append((names[0] if len(names) == 1 else None, dict(zip(sets[fields["set"]], values))))

    def count(self, wanted):
        """wanted: NAME METRIC=VALUE …; a metric without suffix is its sum"""
        name, *pairs = wanted.split()
        values = [(metric if "." in metric else metric + ".sum", float(value)) for metric, value in (pair.split("=") for pair in pairs)]
        return sum(1 for row, metrics in self.rows if row == name and all(metrics.get(metric) == value for metric, value in values))
