"""PyTorch programs on several GPUs for scripts/gpu-check. Nothing printed on stdout depends on time.

devices_app.py one       one process, two GPUs: kernels on both, copies between them, a separate stream on each
devices_app.py ranks     one of several processes that torchrun started, one GPU each: all-reduces through NCCL
"""
import os
import sys

import torch


def one():
    devices = [torch.device("cuda", i) for i in range(2)]
    values = [torch.arange(1 << 20, dtype=torch.float32, device=device) for device in devices]
    for _ in range(20):
        for i, device in enumerate(devices):
            with torch.cuda.device(device), torch.cuda.stream(torch.cuda.Stream(device)):
                values[i] = values[i] * 0.5 + 1.0
                torch.cuda.current_stream().synchronize()
    there = values[0].to(devices[1])
    back = (there + values[1]).to(devices[0])
    print(f"sum {float(back.double().sum()):.0f}")


def ranks():
    # If a device is given, PyTorch makes nonblocking communicators, and NCCL may launch their first collective in its
    # own thread, where no NVTX range of a call is open.
    os.environ.setdefault("TORCH_NCCL_USE_COMM_NONBLOCKING", "0")
    import torch.distributed as dist
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    values = torch.ones(1 << 22, device="cuda") * (rank + 1)
    small = torch.zeros(256, device="cuda")
    for i in range(30):
        small += i
        dist.all_reduce(values)
        values /= dist.get_world_size()
    torch.cuda.synchronize()
    print(f"rank {rank} of {dist.get_world_size()}: {float(values[0]):.4f}")
    dist.destroy_process_group()


{"one": one, "ranks": ranks}[sys.argv[1]]()
