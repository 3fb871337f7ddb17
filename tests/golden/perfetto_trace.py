#!/usr/bin/env python3
"""Is a Perfetto trace of prof the same trace as its JSON, event for event?

perfetto_trace.py --prof PROF [--undump UNDUMP] [--option=OPTION…] [INPUT…]

Writes both forms of each input (a log, a trace, or a golden folder), parses every packet
with perfetto_trace_pb2 of the wheel `perfetto`, refuses unknown fields, and compares slices, instants, arrows, counters
and arguments. Without an input: every golden folder, and the traces of ../shared/data if they are there. The wheel is searched in this Python and in build/perfetto (scripts/setup --perfetto); status 77: it is
not installed. As a module: Reader.

perfetto_trace.py --prof PROF --sizes INPUT…   prints the sizes of the files instead, and how small their contents can get
"""
import argparse
import collections
import glob
import gzip
import json
import lzma
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += glob.glob(str(ROOT / "build/perfetto"))
try:
    from google.protobuf import unknown_fields
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb
except ImportError:
    pb = None

BOOT_TIME = 6
# Parts of these inputs, which must be the same part in both forms.
SELECTIONS = {"trace_basic": [["--from", "10us", "--to", "30us"], ["--device", "1"], ["--nvtx", "step"]], "h200": [["--from", "10ms", "--to", "30ms"]]}
# Arrows by their ids, as the two forms number them.
DEPENDENCY = 1 << 62  # else of a forward and a backward operator


def refuse_unknown(message):
    """every field of every message has a name in the wheel's .proto files"""
    for unknown in unknown_fields.UnknownFieldSet(message):
        raise SystemExit(f"unknown field {unknown.field_number} in {message.DESCRIPTOR.full_name}")
    for field, value in message.ListFields():
        if field.message_type:
            for each in ([value] if not field.is_repeated else value):
                refuse_unknown(each)


class Reader:
    """the packets of a trace, as lists of slices, instants and counter values"""

    def __init__(self, data):
        trace = pb.Trace()
        trace.ParseFromString(data)
        refuse_unknown(trace)
        self.tracks, self.texts, self.defaults, self.clocks = {}, collections.defaultdict(dict), {}, {}
        self.slices, self.instants, self.counters, self.stages, self.pending = [], [], [], [], []
        self.open = collections.defaultdict(list)
        self.started = set()
        for packet in trace.packet:
            self.take(packet)
        for time, track, event, sequence in sorted(self.pending, key=lambda event: event[0]):
            self.event(time, track, event, sequence)
        assert not any(self.open.values()), "a slice has no end"

    def take(self, packet):
        sequence = packet.trusted_packet_sequence_id
        assert sequence, "a packet without a sequence"
        if packet.sequence_flags & 1:
            self.started.add(sequence)
        assert sequence in self.started, "a packet before its sequence started"
        if packet.HasField("trace_packet_defaults"):
            self.defaults[sequence] = packet.trace_packet_defaults
        for clock in packet.clock_snapshot.clocks:
            if clock.is_incremental:
                self.clocks[sequence, clock.clock_id] = clock.timestamp
        for field, entries in packet.interned_data.ListFields():
            for entry in entries:
                assert entry.iid not in self.texts[sequence, field.name], "an iid twice"
                self.texts[sequence, field.name][entry.iid] = entry
        if packet.HasField("track_descriptor"):
            self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        defaults = self.defaults.get(sequence, pb.TracePacketDefaults())
        if packet.HasField("track_event") or packet.HasField("gpu_render_stage_event"):
            clock = packet.timestamp_clock_id or defaults.timestamp_clock_id or BOOT_TIME
            time = packet.timestamp
            if clock != BOOT_TIME:
                time = self.clocks[sequence, clock] = self.clocks[sequence, clock] + time
            time -= (time >> 63) << 64
            if packet.HasField("track_event"):
                track = packet.track_event.track_uuid or defaults.track_event_defaults.track_uuid
                assert track in self.tracks, "an event of a track that is not described"
                self.pending.append((time, track, packet.track_event, sequence))
            else:
                self.stages.append((time, packet.gpu_render_stage_event, sequence))

    def text(self, sequence, table, iid):
        entry = self.texts[sequence, table][iid]
        return entry.str.decode() if table == "debug_annotation_string_values" else entry.name

    def value(self, sequence, annotation):
        which = annotation.WhichOneof("value")
        if annotation.dict_entries:
            return {self.text(sequence, "debug_annotation_names", entry.name_iid): self.value(sequence, entry) for entry in annotation.dict_entries}
        if annotation.array_values:
            return [self.value(sequence, entry) for entry in annotation.array_values]
        if which == "string_value_iid":
            return self.text(sequence, "debug_annotation_string_values", annotation.string_value_iid)
        assert which, "an annotation without a value"
        return getattr(annotation, which)

    def event(self, time, track, event, sequence):
        if event.type == event.TYPE_COUNTER:
            value = event.counter_value if event.HasField("counter_value") else event.double_counter_value
            self.counters.append((track, time, value))
            return
        if event.type == event.TYPE_SLICE_END:
            begin = self.open[track].pop()
            begin["dur"] = time - begin["ts"]
            begin["arrows_in_at_end"] = list(event.terminating_flow_ids)
            return
        arguments = {self.text(sequence, "debug_annotation_names", each.name_iid): self.value(sequence, each) for each in event.debug_annotations}
        assert len(arguments) == len(event.debug_annotations), "an argument twice"
        said = {"cat": self.text(sequence, "event_categories", event.category_iids[0]), "name": event.name or self.text(sequence, "event_names", event.name_iid),
                "ts": time, "args": arguments, "track": track, "arrows_out": list(event.flow_ids), "arrows_in": list(event.terminating_flow_ids)}
        if event.HasField("legacy_event"):
            assert event.legacy_event.flow_direction in (1, 2)
            said["launch" if event.legacy_event.flow_direction == 2 else "launched"] = event.legacy_event.bind_id
        if event.type == event.TYPE_INSTANT:
            self.instants.append(said)
        else:
            assert event.type == event.TYPE_SLICE_BEGIN
            self.slices.append(said)
            self.open[track].append(said)


def nanoseconds(micros):
    return round(micros * 1000)


def plain(value):
    """a value of JSON as the Perfetto trace has it"""
    if value is None:
        return "null"
    if isinstance(value, list):
        return [plain(each) for each in value] or "[]"
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()} or "{}"
    return value


def members(event):
    """the arguments; those that prof adds in microseconds are nanoseconds in the Perfetto trace"""
    return {key[:-4] + "(ns)" if key.endswith("(us)") else key: nanoseconds(value) if key.endswith("(us)") else plain(value)
            for key, value in event.get("args", {}).items()}


def shape(category, name, begin, duration, arguments):
    return (category, name, begin, duration, json.dumps(arguments, sort_keys=True))


def events_of_json(events):
    """what the JSON has, in the words of compare()"""
    slices, instants, counters, arrows, opened = [], [], [], collections.defaultdict(lambda: [[], []]), {}
    for event in events:
        kind = event["ph"]
        if kind == "X":
            slices.append(shape(event["cat"], event["name"], nanoseconds(event["ts"]), nanoseconds(event["dur"]), members(event)))
        elif kind == "b":
            opened[event["cat"], event["id"]] = event
        elif kind == "e":
            begin = opened.pop((event["cat"], event["id"]))
            slices.append(shape(begin["cat"], begin["name"], nanoseconds(begin["ts"]), nanoseconds(event["ts"]) - nanoseconds(begin["ts"]), members(begin)))
        elif kind == "i":
            instants.append(shape(event.get("cat", ""), event["name"], nanoseconds(event["ts"]), 0, members(event)))
        elif kind == "C":
            counters.append((event["name"], nanoseconds(event["ts"]), *next(iter(event["args"].items()))))
        elif kind in "sf":
            arrows[event["cat"], event["id"]][kind == "f"].append(nanoseconds(event["ts"]))
    assert not opened
    return slices, instants, counters, sorted((category, sorted(start), sorted(end)) for (category, _), (start, end) in arrows.items())


def arrows_of(reader):
    arrows = collections.defaultdict(lambda: [[], []])
    for each in reader.slices:
        for key, side in (("launch", 0), ("launched", 1)):
            if each.get(key):
                arrows["ac2g", each[key]][side].append(each["ts"])
        for key, side, time in (("arrows_out", 0, each["ts"]), ("arrows_in", 1, each["ts"]), ("arrows_in_at_end", 1, each["ts"] + each["dur"] - 1)):
            for flow in each[key]:
                arrows["dependency" if flow & DEPENDENCY else "fwdbwd", flow][side].append(time)
    return sorted((category, sorted(start), sorted(end)) for (category, _), (start, end) in arrows.items())


def compare(what, wanted, got):
    if collections.Counter(map(repr, wanted)) == collections.Counter(map(repr, got)):
        return len(got)
    missing = collections.Counter(map(repr, wanted)) - collections.Counter(map(repr, got))
    extra = collections.Counter(map(repr, got)) - collections.Counter(map(repr, wanted))
    raise SystemExit(f"{what}: {sum(missing.values())} of {len(wanted)} only in the JSON, {sum(extra.values())} of {len(got)} only in the Perfetto trace\n"
                     + "\n".join(["JSON:"] + sorted(missing)[:5] + ["Perfetto:"] + sorted(extra)[:5]))


def check(json_path, perfetto_path):
    read = lambda path: gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    reader = Reader(read(perfetto_path))
    slices, instants, counters, arrows = events_of_json(json.loads(read(json_path))["traceEvents"])
    got_slices = [shape(each["cat"], each["name"], each["ts"], each["dur"], each["args"]) for each in reader.slices]
    unit = lambda track: "bytes" if reader.tracks[track].counter.unit == 3 else reader.tracks[track].counter.unit_name
    path_arrows = [(category.replace("critical path", "dependency"), start, end) for category, start, end in arrows]
    return {"slices": compare("slices", slices, got_slices),
            "instants": compare("instants", instants, [shape(each["cat"], each["name"], each["ts"], 0, each["args"]) for each in reader.instants]),
            "counter values": compare("counters", [(name, time, unit_, float(value)) for name, time, unit_, value in counters],
                                      [(reader.tracks[track].name, time, unit(track), float(value)) for track, time, value in reader.counters]),
            "arrows": compare("arrows", sorted(path_arrows), arrows_of(reader)), "render stages": len(reader.stages)}


def varint(value):
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes(encoded + bytes([value]))


def packed(numbers):
    """the bytes that xz -9e needs for whole numbers"""
    stream = b"".join(varint(each) for each in numbers)
    return len(lzma.compress(stream, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]))


def smallest(reader):
    """Bytes of all slices, instants and counter values without their packets: every kind of value is a column of its
    own, in the order of tracks and times, and xz compresses it; of whole numbers the better of values and differences."""
    columns, places = collections.defaultdict(list), {}
    for each in sorted(reader.slices + reader.instants, key=lambda each: (each["track"], each["ts"])):
        columns["set of arguments"].append(json.dumps(list(each["args"])))
        columns["length"].append(each.get("dur", -1))
        for name in ("track", "ts", "name", "cat"):
            columns[name].append(each[name])
        for name, value in each["args"].items():
            columns["argument", name].append(value if type(value) is int else json.dumps(value))
    for track, time, value in sorted(reader.counters):
        columns["time", track].append(time)
        columns["value", track].append(value if type(value) is int else json.dumps(value))
    total = 0
    for values in columns.values():
        whole = [each if type(each) is int else places.setdefault(each, len(places)) for each in values]
        steps = [after - before for before, after in zip([0] + whole, whole)]
        total += min(packed(2 * abs(each) + (each < 0) for each in numbers) for numbers in (whole, steps))
    return total + packed("\n".join(places).encode())


def print_sizes(prof, inputs):
    """one line an input: bytes of the four files, and of what they hold"""
    for path in inputs:
        with tempfile.TemporaryDirectory(prefix="perfetto.") as scratch:
            sizes = []
            for end in ("json", "pftrace", "json.gz", "pftrace.gz"):
                subprocess.run([prof, "trace", path, "-o", f"{scratch}/trace.{end}"], stderr=subprocess.DEVNULL, check=True)
                sizes.append(pathlib.Path(scratch, "trace." + end).stat().st_size)
            packets = pb.Trace.FromString(pathlib.Path(scratch, "trace.pftrace").read_bytes()).packet
            arguments = sum(each.ByteSize() + 2 for packet in packets for each in packet.track_event.debug_annotations)
            least = smallest(Reader(pathlib.Path(scratch, "trace.pftrace").read_bytes()))
        print(f"{path.name}: JSON {sizes[0]}, Perfetto {sizes[1]} (1/{sizes[0] / sizes[1]:.1f}), its arguments {arguments}; compressed "
              f"{sizes[2]}, {sizes[3]} (1/{sizes[2] / sizes[3]:.1f}); columns compressed by xz {least} (1/{sizes[2] / least:.1f})")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prof", required=True)
    parser.add_argument("--undump")
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("input", type=pathlib.Path, nargs="*")
    options = parser.parse_args()
    if pb is None:
        print("no wheel perfetto here: scripts/setup --perfetto")
        sys.exit(77)
    if options.sizes:
        print_sizes(options.prof, options.input)
        return
    inputs = [[each] for each in options.input] or cases()
    with tempfile.TemporaryDirectory(prefix="perfetto.") as scratch:
        for paths in inputs:
            files = [as_input(path, options.undump, scratch) for path in paths]
            for extra in [[], ["--plain"]] + SELECTIONS.get(paths[0].parent.name, []):
                written = [pathlib.Path(scratch, "trace.json"), pathlib.Path(scratch, "trace.pftrace")]
                for output in written:
                    said = subprocess.run([options.prof, "trace", *files, "-o", output, "--force", *extra, *options.option], stderr=subprocess.PIPE, text=True)
                    if said.returncode not in (0, 1) or not output.exists():  # 1: the input is damaged
                        raise SystemExit(f"{paths}: {said.stderr}")
                print(*(path.name for path in paths), *extra, check(*written), "bytes:", *(each.stat().st_size for each in written), flush=True)
                for output in written:
                    output.unlink()


def cases():
    """inputs of the golden tests: logs as text and traces; two of them together; real traces"""
    golden = ROOT / "tests/golden"
    logs = sorted(golden.glob("*/app.log.txt"))
    two = sorted(golden.glob("trace_two_processes/*.log.txt"))
    real = ROOT.parent / "shared/data"
    found = [path for pattern in ("h200_ddp/rank0.plog", "nsys/mfu_2gpu_before.sqlite", "nsys/mock.sqlite", "h200/resnet18.plain.trace.json.gz")
             for path in real.glob(pattern)]
    if not found:
        print("no ../shared/data here: without real traces")
    return [[path] for path in logs] + [two] * (len(two) > 1) + [[path] for path in found]


def as_input(path, undump, scratch):
    """a log for the text of a log"""
    if path.is_dir():
        path = path / "app.log.txt"
    if not path.name.endswith(".log.txt"):
        return path
    log = pathlib.Path(scratch, path.name.replace(".log.txt", ".plog"))
    subprocess.run([undump, path, log], check=True)
    return log


if __name__ == "__main__":
    main()
