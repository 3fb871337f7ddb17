"""Launches, and between the launches: a tokenizer in Python, a function of C, a sleep, and a sleep in the library that
the first argument names (programs/shims/sleeping_library.cpp). It prints the CPU time and the wall time of each, in ns,
and the first and last line of each function, for drivers/host_samples.py."""
import ctypes
import sys
import time

cuda = ctypes.CDLL("libcuda.so.1")
library = ctypes.CDLL(sys.argv[1])
library.sleep_in_dynamic_frame.argtypes = [ctypes.c_uint64]
context, module, kernel = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
TEXT = "the quick brown fox jumps over the lazy dog and runs away from it again " * 20
DATA = bytes(range(256)) * 4000


def split_word(word):
    parts = []
    for i in range(0, len(word), 2):
        parts.append(word[i:i + 2].upper())
    return parts


def tokenize(until):
    tokens = {}
    while time.thread_time_ns() < until:
        for word in TEXT.split():
            for part in split_word(word):
                tokens[part] = tokens.get(part, 0) + 1
    return tokens


def count_letters(until):
    counts = {}
    while time.thread_time_ns() < until:
        for letter in TEXT:
            counts[letter] = counts.get(letter, 0) + 1


def count_in_c(until):
    while time.thread_time_ns() < until:
        DATA.count(b"\xff\x00\xff")


def rest():
    time.sleep(0.008)


def rest_in_library():
    library.sleep_in_dynamic_frame(8_000_000)


def check(result):
    assert result == 0, result


device = ctypes.c_int()
check(cuda.cuInit(0))
check(cuda.cuDeviceGet(ctypes.byref(device), 0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
check(cuda.cuCtxSetCurrent(context))
check(cuda.cuModuleLoadData(ctypes.byref(module), b"image"))
check(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"vector_add"))
took = {"tokenize": 0, "count_letters": 0, "count_in_c": 0, "rest": 0, "rest_in_library": 0}
wall = dict(took)  # longer than the thread's own time where it lost its processor
for _ in range(40):
    check(cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None))
    check(cuda.cuCtxSynchronize())
    for function in (tokenize, count_letters, count_in_c):
        began, begin = time.monotonic_ns(), time.thread_time_ns()
        function(begin + 8_000_000)
        took[function.__name__] += time.thread_time_ns() - begin
        wall[function.__name__] += time.monotonic_ns() - began
    for function in (rest, rest_in_library):
        begin = time.monotonic_ns()
        function()
        took[function.__name__] += time.monotonic_ns() - begin
for function in (rest, rest_in_library):
    wall[function.__name__] = took[function.__name__]
for function in (tokenize, count_letters, count_in_c, rest, rest_in_library):
    lines = [line for _, _, line in function.__code__.co_lines() if line]
    print(function.__name__, took[function.__name__])
    print(function.__name__ + "_wall", wall[function.__name__])
    print(function.__name__ + "_first", min(lines))
    print(function.__name__ + "_last", max(lines))
