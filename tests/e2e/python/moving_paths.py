"""Serves in a coroutine. Each place that calls does so through another function of the interpreter, so the native stack
of a sample shows which place it was. Which calls follow each other changes all the time. For drivers/host_samples.py.
Arguments: seconds of CPU time; the number of threads that serve at the same time, instead of the first one."""
import asyncio
import functools
import sys
import threading
import time

from simulated_context import make_context

state = 1


def chance():
    global state
    state = state * 1103515245 + 12345 & 0x7FFFFFFF
    return state >> 16 & 1


def spin(number):
    for _ in range(chance() + 2):
        number += 1
    return number


def add_three(total, number):
    return spin(total + number)


def of_map(number):
    return deeper(number) if chance() else spin(number)


def deeper(number):
    return spin(number) + Served(number) // 2


def of_key(number):
    return spin(-number)


def of_max(number):
    return spin(number)


def of_filter(number):
    return spin(number) > 0


class Served:
    def __init__(self, number):
        self.number = number

    def __add__(self, other):
        if chance():
            return hash(self)
        return self < other

    def __getitem__(self, key):
        if chance():
            return functools.reduce(add_three, range(3), key)
        return list(map(of_map, range(2)))

    def __len__(self):
        if chance():
            return len(sorted(range(3), key=of_key))
        return spin(max(range(3), key=of_max))

    def __hash__(self):
        if chance():
            return spin(len(list(filter(of_filter, range(2)))))
        return -self

    def __lt__(self, other):
        if chance():
            return ~self
        return self(other)

    def __neg__(self):
        return spin(self.number)

    def __invert__(self):
        return spin(self.number)

    def __call__(self, other):
        return spin(other)

    def __floordiv__(self, other):
        return spin(other)


def first_caller(number):
    return leaf(number, 0)


def second_caller(number):
    return leaf(number, 1)


def leaf(number, which):
    return number // LEAVES[which]


class FirstLeaf:
    def __rfloordiv__(self, other):
        return functools.reduce(add_one, range(3), other)


class SecondLeaf:
    def __rfloordiv__(self, other):
        return bytes(map(add_two, range(3)))


def add_one(total, number):
    return spin(total + number)


def add_two(number):
    return spin(number)


LEAVES = FirstLeaf(), SecondLeaf()


async def handle(seconds):
    served = Served(3)
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for _ in range(50):
            served + 1
            served[2]
            if chance():
                first_caller(1)
            else:
                second_caller(1)
            if chance():
                len(served)


def serve():
    make_context()
    asyncio.run(handle(float(sys.argv[1])))


if len(sys.argv) == 2:
    serve()
else:
    threads = [threading.Thread(target=serve) for _ in range(int(sys.argv[2]))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
