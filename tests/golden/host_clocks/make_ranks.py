#!/usr/bin/env python3
"""make_ranks.py FOLDER COLLECTIVES AHEAD_US...: traces of torch.profiler, one per rank. Rank 2 comes last to every
all-reduce by 3 ms. The clock of each rank is ahead of the true time by its AHEAD_US."""
import json
import os
import sys

LATE_US, OWN_US, STEP_US = 3000, 500, 10000
folder, collectives, ahead = sys.argv[1], int(sys.argv[2]), [float(text) for text in sys.argv[3:]]
os.makedirs(folder, exist_ok=True)
for rank, ahead_us in enumerate(ahead):
    events = [{"ph": "M", "name": "process_name", "pid": 100 + rank, "args": {"name": "python"}}]
    for n in range(collectives):
        step_us = 1000000 + n * STEP_US + ahead_us
        work_us = 4000 + (LATE_US if rank == 2 else 0)
        start_us = step_us + 20 + work_us
        end_us = 1000000 + n * STEP_US + 20 + 4000 + LATE_US + OWN_US + ahead_us
        host = {"ph": "X", "pid": 100 + rank, "tid": 1}
        on_gpu = {"ph": "X", "pid": 0, "tid": 7}
        events += [
            {**host, "cat": "user_annotation", "name": f"ProfilerStep#{n}", "ts": step_us, "dur": 9000, "args": {}},
            {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": step_us + 5, "dur": 5, "args": {"correlation": 2 * n + 1}},
            {**on_gpu, "cat": "kernel", "name": "gemm", "ts": step_us + 20, "dur": work_us, "args": {"correlation": 2 * n + 1, "device": 0, "stream": 7, "context": 1}},
            {**host, "cat": "cpu_op", "name": "record_param_comms", "ts": step_us + 10, "dur": 10,
             "args": {"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1024, "Out msg nelems": 1024, "Group size": len(ahead), "Rank": rank,
                      "Process Group Name": "0", "Seq": n}},
            {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": step_us + 12, "dur": 5, "args": {"correlation": 2 * n + 2}},
            {**on_gpu, "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ts": start_us, "dur": end_us - start_us,
             "args": {"correlation": 2 * n + 2, "device": 0, "stream": 7, "context": 1}},
        ]
    with open(os.path.join(folder, f"rank{rank}.json"), "w", encoding="utf-8") as out:
        json.dump({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": len(ahead)}, "baseTimeNanoseconds": 0, "traceEvents": events}, out)
