"""Writes two synthetic traces: old.json and new.json. In the new one a product is 10 % slower, a kernel is replaced by
a faster one, an elementwise kernel runs twice as often, and a copy is missing."""
import json


def trace(slow, gemm, gemm_us, adds, with_copy):
    events, now, correlation = [], 0.0, 0

    def op(name, dims, kernels):
        nonlocal now, correlation
        begin = now
        for kernel, us in kernels:
            correlation += 1
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 11, "ts": now + 1, "dur": 1,
                           "args": {"correlation": correlation}})
            events.append({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": now + 10, "dur": us,
                           "args": {"correlation": correlation, "device": 0, "stream": 7, "grid": [8, 1, 1], "block": [128, 1, 1]}})
            now += us + 2
        events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 10, "tid": 11, "ts": begin, "dur": now - begin - 1,
                       "args": {"External id": len(events), "Input Dims": dims, "Input type": ["float"] * len(dims), "Concrete Inputs": [""] * len(dims)}})

    for step in range(10):
        begin = now
        op("aten::mm", [[512, 512], [512, 512]], [("void gemm<128>(float*)", (20 + step % 3) * slow)])
        op("aten::bmm", [[8, 64, 64], [8, 64, 64]], [(gemm, gemm_us + step % 2)])
        for _ in range(adds):
            op("aten::add", [[1024], [1024]], [("add_kernel", 5)])
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 10, "tid": 11, "ts": begin, "dur": now - begin, "args": {}})
    if with_copy:
        events.append({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH (Device -> Pageable)", "pid": 0, "tid": 7, "ts": now + 20, "dur": 50,
                       "args": {"correlation": 9999, "device": 0, "stream": 7, "bytes": 4096}})
    return {"deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}], "traceEvents": events}


for name, made in [("old.json", trace(1, "bmm_old", 40, 1, True)), ("new.json", trace(1.1, "bmm_new", 30, 2, False))]:
    with open(name, "w", encoding="utf-8") as out:
        json.dump(made, out)
