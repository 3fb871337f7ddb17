"""ResNet-18 training in plain PyTorch, for scripts/gpu-check: recorded by libprof from outside, or by torch.profiler
from inside.

resnet_app.py [--steps N] [--profile TRACE.json]   prints the loss; the measured steps are in a range "measured" that
                                                   ends synchronised
"""
import argparse
import contextlib

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--profile", default="")
options = parser.parse_args()
torch.manual_seed(7)


class Block(nn.Module):
    """Two 3 × 3 convolutions with batch norm and a shortcut, which is a 1 × 1 convolution if the shape changes."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)
        self.shortcut = None
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = torch.relu(self.first_norm(self.first(x)))
        y = self.second_norm(self.second(y))
        return torch.relu(y + (x if self.shortcut is None else self.shortcut(x)))


def resnet18():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    width = 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(width, outputs, stride), Block(outputs, outputs, 1)]
        width = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


model = resnet18().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
images = torch.randn(32, 3, 224, 224, device="cuda")
labels = torch.randint(0, 1000, (32,), device="cuda")


def step():
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss


for _ in range(3):
    step()
torch.cuda.synchronize()
watch = contextlib.nullcontext()
if options.profile:
    from torch.profiler import ProfilerActivity, profile
    watch = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
with watch:
    with torch.profiler.record_function("measured"), torch.cuda.nvtx.range("measured"):
        for _ in range(options.steps):
            loss = step()
        torch.cuda.synchronize()
if options.profile:
    watch.export_chrome_trace(options.profile)
print(f"resnet18 {loss.item():.2f}")
