"""Serves in a coroutine. Its inner calls change every few microseconds, each one in an evaluation loop of its own. The
function that starts them, in the loop of the coroutine, has had another caller before. For drivers/host_samples.py."""
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


def answer(tree):
    tree(20)


def warm_up(tree):
    for _ in range(2000):
        answer(tree)


async def handle():
    tree = Tree(Branch([Branch([Leaf(), Leaf()]), Leaf()]))
    warm_up(tree)
    end = time.process_time() + 1.5
    while time.process_time() < end:
        answer(tree)


make_context()
asyncio.run(handle())
