"""Products, a copy and attention for scripts/gpu-check, recorded by torch.profiler.

peaks_app.py FOLDER   writes peaks.json: products of 8192 x 8192 bfloat16 matrices and of odd sizes, a large copy, a
                      large elementwise kernel, attention
"""
import os
import sys

import torch
from torch.profiler import ProfilerActivity, profile

folder = sys.argv[1]
torch.manual_seed(7)
activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]


def record(name, work):
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    with profile(activities=activities, record_shapes=True) as session:
        for _ in range(20):
            work()
        torch.cuda.synchronize()
    session.export_chrome_trace(os.path.join(folder, name))


def peaks():
    torch.mm(big, big, out=product)
    torch.mm(odd_a, odd_b)
    target.copy_(source)
    torch.mul(source, 2.0, out=target)
    torch.nn.functional.scaled_dot_product_attention(query, query, query, is_causal=True)


big = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
product = torch.empty_like(big)
odd_a = torch.randn(1000, 777, device="cuda", dtype=torch.bfloat16)
odd_b = torch.randn(777, 513, device="cuda", dtype=torch.bfloat16)
source = torch.randn(1 << 28, device="cuda")
target = torch.empty_like(source)
query = torch.randn(4, 16, 2048, 64, device="cuda", dtype=torch.bfloat16)
record("peaks.json", peaks)
print("done")
