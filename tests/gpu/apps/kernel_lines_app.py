"""Kernels whose source is Python, and kernels without any source, for the step `kernel_lines` of scripts/gpu-check.

kernel_lines_app.py triton      a Triton kernel whose time is in one loop
kernel_lines_app.py inductor    a function compiled by torch.compile
kernel_lines_app.py cublas      matrix products: closed kernels
kernel_lines_app.py graph       the Triton kernel in a CUDA graph that is captured in capture_here()

Each works for about SECONDS. The output does not depend on time.
"""
import sys
import time

import torch

SECONDS = 1.5


def for_some_time(work):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        work()
        torch.cuda.synchronize()


def triton_kernel():
    import triton
    import triton.language as tl

    @triton.jit
    def chain_kernel(x_ptr, out_ptr, steps, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets)
        for _ in range(steps):
            x = tl.exp(x) * 0.25 - tl.sin(x)  # here: the loop
        tl.store(out_ptr + offsets, x)
    x = torch.zeros(132 * 1024, device="cuda")
    out = torch.empty_like(x)
    return lambda: chain_kernel[(132,)](x, out, 20_000, BLOCK=1024), out


def triton():
    work, out = triton_kernel()
    for_some_time(work)
    return out


def graph():
    work, out = triton_kernel()
    work()

    def capture_here():
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            for _ in range(4):
                work()
        return captured
    for_some_time(capture_here().replay)
    return out


def inductor():
    @torch.compile
    def fused(x):
        return (torch.sin(x) * torch.exp(-x * x) + torch.tanh(x)).softmax(dim=-1)
    x = torch.linspace(0, 1, 8192 * 4096, device="cuda").reshape(8192, 4096)
    result = fused(x)
    for_some_time(lambda: fused(x))
    return result


def cublas():
    a = torch.ones(4096, 4096, device="cuda", dtype=torch.float16)
    for_some_time(lambda: a @ a)
    return a @ a


if __name__ == "__main__":
    print(f"{sys.argv[1]} {float({'triton': triton, 'graph': graph, 'inductor': inductor, 'cublas': cublas}[sys.argv[1]]().flatten()[0]):.4g}")
