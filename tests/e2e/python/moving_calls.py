"""Serves in a coroutine. Its inner calls change every few microseconds, each one in an evaluation loop of its own. For
drivers/host_samples.py."""
import asyncio
import functools
import time

from simulated_context import make_context


class Leaf:
    def __call__(self, number):
        return functools.reduce(add, range(3), number)


def add(total, number):
    return total + number


class Branch:
    def __init__(self, inner):
        self.inner = inner

    def __call__(self, number):
        for each in self.inner:
            number = each(number)
        return number


class Tree:
    def __init__(self, inner):
        self.inner = inner

    def __call__(self, number):
        return sum(map(self.inner, range(number)))


async def handle():
    tree = Tree(Branch([Branch([Leaf(), Leaf()]), Leaf()]))
    end = time.process_time() + 1.5
    while time.process_time() < end:
        tree(20)


make_context()
asyncio.run(handle())
