#!/usr/bin/env python3
"""validate_stacks.py speedscope|pprof|html|chrome FILE: is the file valid in that format? Prints a summary that a
golden test compares."""
import gzip
import json
import re
import sys


# Requirements of speedscope's file format for each object: key → (type, required). Other keys are not allowed.
FILE = {"$schema": (str, True), "shared": (dict, True), "profiles": (list, True), "name": (str, False), "exporter": (str, False),
        "activeProfileIndex": (int, False)}
SHARED = {"frames": (list, True)}
FRAME = {"name": (str, True), "file": (str, False), "line": (int, False), "col": (int, False)}
SAMPLED = {"type": (str, True), "name": (str, True), "unit": (str, True), "startValue": (int, True), "endValue": (int, True),
           "samples": (list, True), "weights": (list, True)}
UNITS = ("none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes")


def has_form(value, form):
    assert isinstance(value, dict), value
    assert set(value) <= set(form), set(value) - set(form)
    for key, (kind, must) in form.items():
        assert key in value or not must, key
        assert key not in value or type(value[key]) is kind, (key, value[key])


def speedscope(path):
    def once(pairs):  # a key must not occur twice
        assert len(dict(pairs)) == len(pairs), pairs
        return dict(pairs)
    trace = json.load(open(path, encoding="utf-8"), object_pairs_hook=once, parse_constant=lambda word: 1 / 0)
    has_form(trace, FILE), has_form(trace["shared"], SHARED)
    assert trace["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert 0 <= trace.get("activeProfileIndex", 0) < len(trace["profiles"])
    frames = trace["shared"]["frames"]
    for frame in frames:
        has_form(frame, FRAME)
    for profile in trace["profiles"]:
        has_form(profile, SAMPLED)
        assert all(type(weight) is int and 0 < weight < 2 ** 53 for weight in profile["weights"])
        assert all(type(sample) is list and sample and all(type(i) is int for i in sample) for sample in profile["samples"])
    for profile in trace["profiles"]:
        assert profile["type"] == "sampled" and profile["unit"] in UNITS
        assert len(profile["samples"]) == len(profile["weights"]) and profile["startValue"] == 0
        assert sum(profile["weights"]) == profile["endValue"]
        assert all(0 <= i < len(frames) for sample in profile["samples"] for i in sample)
        print(f"{profile['name']}: {len(profile['samples'])} samples, {profile['endValue']} {profile['unit']}, {len(frames)} frames")
        heaviest = max(range(len(profile["weights"])), key=lambda i: profile["weights"][i])
        print("  " + ";".join(frames[i]["name"] for i in profile["samples"][heaviest]))


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            assert tag & 7 == 2, tag
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        yield tag >> 3, value


def numbers(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def pprof(path):
    parts = {}
    for field, value in fields(gzip.open(path).read()):
        parts.setdefault(field, []).append(value)
    strings = [text.decode() for text in parts[6]]
    assert strings[0] == "" and len(set(strings)) == len(strings)
    types = [{field: strings[value] for field, value in fields(each)} for each in parts[1]]
    functions = {}
    for each in parts[5]:
        function = dict(fields(each))
        functions[function[1]] = strings[function.get(2, 0)]
    lines = {}
    for each in parts[4]:
        location = dict(fields(each))
        lines[location[1]] = functions[dict(fields(location[4]))[1]]
    samples = []
    for each in parts[2]:
        sample = dict(fields(each))
        assert len(numbers(sample[2])) == len(types)
        samples.append((numbers(sample[2]), [lines[i] for i in numbers(sample[1])]))
    print("types", types)
    print(f"{len(samples)} samples, {[sum(values[i] for values, _ in samples) for i in range(len(types))]}")
    print("  " + ";".join(reversed(max(samples, key=lambda s: s[0][1])[1])))


def html(path):
    page = open(path, encoding="utf-8").read()
    assert not re.search(r"(src|href)=|https?://|@import", page), "the page asks for something else"
    data = json.loads(re.search(r'<script class="data" type="application/json">(.*?)</script>', page, re.S).group(1))
    assert len(data["parent"]) == len(data["frame"]) == len(data["value"]) == len(data["count"])
    assert all(parent < i for i, parent in enumerate(data["parent"]) if i)
    print(f"{data['metric']}: {len(data['parent'])} nodes, {sum(data['value'])} {data['unit']}")



def chrome(path):
    trace = json.load(open(path, encoding="utf-8"))
    frames = trace["stackFrames"]
    for frame in frames.values():
        assert frame["name"] and ("parent" not in frame or frame["parent"] in frames)
    for event in trace["traceEvents"]:
        if "sf" not in event:
            continue
        names, at = [], str(event["sf"])
        while at:
            names.append(frames[at]["name"])
            at = frames[at].get("parent")
        print(f"{event['cat']} {event['name']}: {';'.join(reversed(names))}")


{"speedscope": speedscope, "pprof": pprof, "html": html, "chrome": chrome}[sys.argv[1]](sys.argv[2])
