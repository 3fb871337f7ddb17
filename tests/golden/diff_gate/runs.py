"""Writes traces of a program with 50 steps of 32 layers: base.json; same.json, with other noise; layer17.json, in which
layer 17 is 30 % slower; short.json with 5 steps; host.json without GPU operations; renamed.json with other kernels."""
import json
import random


def trace(seed, steps=50, slow_layer=None, kernel="gemm", gpu=True):
    rng = random.Random(seed)
    events, now, correlation = [], 100.0, 0

    def annotation(name, begin, end):
        events.append({"ph": "X", "cat": "user_annotation", "name": name, "pid": 10, "tid": 11, "ts": begin, "dur": round(end - begin, 3)})

    for step in range(steps):
        step_begin = now
        for layer in range(32):
            begin = now
            correlation += 1
            us = round(20 * rng.gauss(1, 0.01) * (1.3 if layer == slow_layer else 1), 3)
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 11, "ts": round(now + 1, 3),
                           "dur": 1, "args": {"correlation": correlation}})
            if gpu:
                events.append({"ph": "X", "cat": "kernel", "name": f"void {kernel}<float>(float*)", "pid": 0, "tid": 7,
                               "ts": round(now + 3, 3), "dur": us,
                               "args": {"correlation": correlation, "device": 0, "stream": 7, "grid": [8, 1, 1], "block": [128, 1, 1]}})
            now = round(now + us + 4, 3)
            annotation(f"layer {layer}", begin, now - 0.5)
        annotation(f"step {step}", step_begin, now - 0.2)
    return {"deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}], "traceEvents": events}


for name, made in [("base", trace(1)), ("same", trace(2)), ("layer17", trace(3, slow_layer=17)), ("short", trace(4, steps=5)),
                   ("host", trace(5, gpu=False)), ("renamed", trace(6, kernel="other<1>::matmul_of_another_library"))]:
    with open(name + ".json", "w", encoding="utf-8") as out:
        json.dump(made, out)
