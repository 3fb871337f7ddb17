"""PyTorch programs for scripts/gpu-check. Nothing printed on stdout depends on time, except in `serve`.

torch_app.py eager|compile|graph|reduce_overhead|graphed_callables|profiler
             [--steps N] [--device cuda|cpu] [--trace FILE]
torch_app.py serve [--profile cpu+cuda|cuda|with_stack]
             prints "ready"; then each "loop N" on stdin times N steps of the MLP, and "loop ops N" times N operators of
             one launch each, below 20 Python frames
"""
import argparse
import contextlib
import json
import sys
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("mode", choices=["eager", "compile", "graph", "reduce_overhead", "graphed_callables", "profiler", "serve"])
parser.add_argument("--steps", type=int, default=10)
parser.add_argument("--device", default="cuda")
parser.add_argument("--emit-nvtx", action="store_true", help="a range for each operator, with the sequence number that joins forward and backward")
parser.add_argument("--trace", help="where `profiler` leaves torch.profiler's trace")
parser.add_argument("--profile", choices=["none", "cpu+cuda", "cuda", "with_stack"], default="none")
options = parser.parse_args()
device = options.device
torch.manual_seed(7)


def synchronize():
    if device == "cuda":
        torch.cuda.synchronize()


def named(text):
    return torch.cuda.nvtx.range(text) if device == "cuda" else contextlib.nullcontext()


class Mlp:
    """36 layers forward, backward and plain SGD, one kernel per parameter: about 435 launches per step, limited by the
    host."""

    def __init__(self):
        layers = []
        for _ in range(36):
            layers += [nn.Linear(512, 512), nn.ReLU()]
        self.model = nn.Sequential(*layers).to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, foreach=False)
        self.input = torch.randn(128, 512, device=device)
        self.target = torch.randn(128, 512, device=device)

    def step(self):
        loss = nn.functional.mse_loss(self.model(self.input), self.target)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss


def eager():
    mlp = Mlp()
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 4, 512, dropout=0.0, batch_first=True), 2).to(device)
    optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-4)
    convolution = nn.Conv2d(3, 16, 3, padding=1).to(device)
    batches = [torch.randn(8, 64, 256) for _ in range(2)]
    if device == "cuda":
        batches = [batch.pin_memory() for batch in batches]
    for step in range(options.steps):
        with named(f"step {step}"):
            with named("mlp"):
                mlp_loss = mlp.step()
            with named("transformer"):
                batch = batches[step % 2].to(device, non_blocking=True)
                loss = encoder(batch).square().mean()
                loss.backward()
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            with named("convolution"):
                image = torch.zeros(4, 3, 64, 64, device=device) + 0.5
                convolved = convolution(image).mean()
    print(f"mlp {mlp_loss.item():.3f} transformer {loss.item():.3f} convolution {convolved.item():.3f}")


def compiled():
    model = nn.Sequential(nn.Linear(512, 1024), nn.GELU(), nn.LayerNorm(1024), nn.Linear(1024, 512)).to(device)
    fast = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    data = torch.randn(256, 512, device=device)
    for _ in range(options.steps):
        loss = torch.softmax(fast(data), dim=-1).square().sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    print(f"compiled {loss.item():.3f}")


def graph():
    mlp = Mlp()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            mlp.step()
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with named("capture"), torch.cuda.graph(captured):
        loss = mlp.step()
    for _ in range(options.steps):
        captured.replay()
    print(f"graph {loss.item():.3f}")


def reduce_overhead():
    """torch.compile captures graphs by itself, forward and backward, in its first calls."""
    model = nn.Sequential(nn.Linear(512, 1024), nn.GELU(), nn.LayerNorm(1024), nn.Linear(1024, 512)).to(device)
    fast = torch.compile(model, mode="reduce-overhead")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    data = torch.randn(256, 512, device=device)
    for step in range(options.steps):
        torch.compiler.cudagraph_mark_step_begin()
        with named("warm up" if step < 5 else "train"):
            loss = torch.softmax(fast(data), dim=-1).square().sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    print(f"reduce_overhead {loss.item():.3f}")


def graphed_callables():
    first = nn.Sequential(nn.Linear(512, 512), nn.ReLU()).to(device)
    second = nn.Sequential(nn.Linear(512, 512), nn.ReLU()).to(device)
    data = torch.randn(128, 512, device=device, requires_grad=True)
    with named("capture"):
        first, second = torch.cuda.make_graphed_callables((first, second), ((data,), (first(data).detach().requires_grad_(),)))
    for _ in range(options.steps):
        with named("train"):
            loss = second(first(data)).square().mean()
            loss.backward()
    print(f"graphed_callables {loss.item():.3f}")


def profiler():
    """torch.profiler must work inside a recorded program, and see what the recorder sees."""
    from torch.profiler import ProfilerActivity, profile
    mlp = Mlp()
    mlp.step()
    synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        with torch.profiler.record_function("measured"), named("measured"):
            for _ in range(options.steps):
                mlp.step()
            synchronize()
    if options.trace:
        seen.export_chrome_trace(options.trace)
    kernels = sum(1 for event in seen.events() if event.device_type == torch.autograd.DeviceType.CUDA)
    for _ in range(options.steps):  # the program goes on after the other profiler has stopped
        loss = mlp.step()
    print(f"profiler {loss.item():.3f} saw_kernels {kernels > 0}")
    print(f"kernels {kernels}", file=sys.stderr)


def time_operators(count, frames=20):
    """Host time of single operators that launch one kernel each: median and 99th percentile, in ns."""
    if frames:
        return time_operators(count, frames - 1)
    numbers = torch.zeros(64, device=device)
    taken = []
    for number in range(count):
        begin = time.perf_counter_ns()
        numbers.add_(1)
        taken.append(time.perf_counter_ns() - begin)
        if number % 200 == 199:
            synchronize()  # the queue never fills
    taken.sort()
    return {"operators": count, "median_ns": taken[count // 2], "p99_ns": taken[count * 99 // 100]}


def serve():
    from torch.profiler import ProfilerActivity, profile
    both = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    profilers = {"cpu+cuda": {"activities": both}, "cuda": {"activities": [ProfilerActivity.CUDA]},
                 "with_stack": {"activities": both, "with_stack": True}}
    mlp = Mlp()
    for _ in range(30):
        mlp.step()
    synchronize()
    print("ready", flush=True)
    for line in sys.stdin:
        command, *words = line.split()
        if command == "start":
            torch.cuda.profiler.start()
            print("{}", flush=True)
            continue
        if command != "loop":
            break
        steps = int(words[-1])
        watch = profile(**profilers[options.profile]) if options.profile != "none" else contextlib.nullcontext()
        with watch:
            mlp.step()
            synchronize()
            if words[0] == "ops":
                answer = time_operators(steps)
            else:
                begin = time.perf_counter_ns()
                for _ in range(steps):
                    mlp.step()
                synchronize()
                answer = {"steps": steps, "wall_ns": (time.perf_counter_ns() - begin) / steps}
        print(json.dumps(answer), flush=True)
        del watch


operators = torch.autograd.profiler.emit_nvtx() if options.emit_nvtx else contextlib.nullcontext()
with operators:
    {"eager": eager, "compile": compiled, "graph": graph, "reduce_overhead": reduce_overhead, "graphed_callables": graphed_callables,
     "profiler": profiler, "serve": serve}[options.mode]()
