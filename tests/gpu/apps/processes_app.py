"""PyTorch programs about processes, for scripts/gpu-check. Nothing printed on stdout depends on time.

processes_app.py train FILE            trains until it is killed; two 64-bit numbers in FILE: steps and single operators
                                       that have returned
processes_app.py loader fork|spawn     trains on the output of four workers of a DataLoader; stderr has a line "worker
                                       {…}" for each
processes_app.py ranks                 one of several processes that torchrun started on one GPU: kernels there,
                                       all-reduces through gloo
"""
import json
import mmap
import os
import re
import struct
import sys

import torch
from torch import nn

WORKERS = 4


class Training:
    """Twelve layers forward, backward and plain SGD: the same launches in every step except the first."""

    def __init__(self, width=256):
        torch.manual_seed(7)
        self.model = nn.Sequential(*[layer for _ in range(12) for layer in (nn.Linear(width, width), nn.ReLU())]).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, foreach=False)

    def step(self, inputs):
        loss = self.model(inputs).square().mean()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss


def train(path):
    training = Training()
    inputs = torch.randn(64, 256, device="cuda")
    numbers = torch.zeros(64, dtype=torch.int64, device="cuda")
    with open(path, "r+b") as file:
        returned = mmap.mmap(file.fileno(), 16)  # remains after the process has ended
    steps = singles = 0
    while True:
        with torch.cuda.nvtx.range("train step"):
            training.step(inputs)
        steps += 1
        struct.pack_into("<Q", returned, 0, steps)
        for _ in range(20):
            numbers.add_(1)  # one launch
            singles += 1
            struct.pack_into("<Q", returned, 8, singles)
        if steps % 50 == 0:
            torch.cuda.synchronize()


def mapped():
    """The state of this process that the checks compare: mapped log files and CUPTIs, threads."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        files = set(re.findall(r"\S+\.plog\b|\S+libcupti\.so\S*", maps.read()))
    return {"logs": sorted(f for f in files if ".plog" in f), "cupti": sorted(f for f in files if "libcupti" in f),
            "threads": len(os.listdir("/proc/self/task"))}


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 512

    def __getitem__(self, index):
        return torch.full((256,), index / 512)


def look(worker):
    # in one call, because the others write too
    os.write(2, f"worker {json.dumps(dict(mapped(), worker=worker))}\n".encode())


def loader(method):
    training = Training()  # the GPU is in use when the workers start
    batches = torch.utils.data.DataLoader(Numbers(), batch_size=32, num_workers=WORKERS, worker_init_fn=look, pin_memory=True,
                                          multiprocessing_context=method)
    for batch in batches:
        loss = training.step(batch.cuda(non_blocking=True))
    print(f"loader {loss.item():.4f}")


def ranks():
    import torch.distributed as dist
    dist.init_process_group("gloo")
    training = Training()
    for step in range(20):
        training.step(torch.full((64, 256), 0.5, device="cuda"))
        total = torch.full((16,), float(dist.get_rank() + step))
        dist.all_reduce(total)
    torch.cuda.synchronize()
    print(f"rank {dist.get_rank()} of {dist.get_world_size()}: {float(total[0]):.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    {"train": train, "loader": loader, "ranks": ranks}[sys.argv[1]](*sys.argv[2:])
