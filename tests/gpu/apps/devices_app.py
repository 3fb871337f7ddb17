"""PyTorch programs on several GPUs for scripts/gpu-check. Nothing printed on stdout depends on time.

devices_app.py one       one process, two GPUs: kernels on both, copies between them, a separate stream on each
devices_app.py ranks     one of several processes that torchrun started, one GPU each: all-reduces through NCCL
devices_app.py ddp       the same with DistributedDataParallel, 40 steps in NVTX ranges; before each of the last 19,
                         rank 1 sleeps 10 ms in data_takes_long()
devices_app.py fsdp      the same with fully_shard() and no rank that is late
devices_app.py hang DIR  starts two ranks, one of which never enters the 21st all-reduce, and kills both after 3 s
"""
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

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


def join_group():
    """The process group, and this process's rank in it."""
    # If a device is given, PyTorch makes nonblocking communicators, and NCCL may launch their first collective in its
    # own thread, where no NVTX range of a call is open.
    os.environ.setdefault("TORCH_NCCL_USE_COMM_NONBLOCKING", "0")
    import torch.distributed as dist
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    return dist, rank


def ranks():
    dist, rank = join_group()
    values = torch.ones(1 << 22, device="cuda") * (rank + 1)
    small = torch.zeros(256, device="cuda")
    for i in range(30):
        small += i
        dist.all_reduce(values)
        values /= dist.get_world_size()
    torch.cuda.synchronize()
    print(f"rank {rank} of {dist.get_world_size()}: {float(values[0]):.4f}")
    dist.destroy_process_group()


def train(model, late):
    import torch.distributed as dist
    rank = dist.get_rank()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    data = torch.ones(64, 2048, device="cuda")
    for step in range(40):
        if late and rank == 1 and step > 20:
            data_takes_long()
        with torch.cuda.nvtx.range("step"):
            loss = model(data).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            value = float(loss.detach())
    print(f"rank {rank}: {value == value}")
    dist.destroy_process_group()


def data_takes_long():
    time.sleep(0.01)


def layers():
    torch.manual_seed(7)
    return torch.nn.Sequential(*(torch.nn.Linear(2048, 2048) for _ in range(6))).cuda()


def ddp():
    _, rank = join_group()
    train(torch.nn.parallel.DistributedDataParallel(layers(), device_ids=[rank]), late=True)


def fsdp():
    from torch.distributed.fsdp import fully_shard
    join_group()
    model = layers()
    for layer in model:
        fully_shard(layer)
    train(fully_shard(model), late=False)


def data_is_late():
    time.sleep(600)


def hanging_rank():
    dist, rank = join_group()
    values = torch.ones(1 << 20, device="cuda")
    for _ in range(20):
        dist.all_reduce(values)
    torch.cuda.synchronize()
    pathlib.Path(sys.argv[2], f"waits{rank}").touch()
    if rank == 1:
        data_is_late()
    dist.all_reduce(values)
    torch.cuda.synchronize()


def hang():
    folder = pathlib.Path(sys.argv[2])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    group = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    children = [subprocess.Popen([sys.executable, __file__, "hanging_rank", folder],
                                 env=os.environ | group | {"RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in range(2)]
    end = time.monotonic() + 90
    while time.monotonic() < end and not all((folder / f"waits{rank}").exists() for rank in range(2)):
        time.sleep(0.1)
    time.sleep(3)
    for child in children:
        child.send_signal(signal.SIGKILL)
    print("ended by", [child.wait() for child in children])


{"one": one, "ranks": ranks, "ddp": ddp, "fsdp": fsdp, "hang": hang, "hanging_rank": hanging_rank}[sys.argv[1]]()
