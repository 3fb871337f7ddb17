"""The script that embed.cpp runs, after each start of its interpreter: launches from Python below C++, from C++ below
Python, and in a forked child, with the stack that the interpreter sees at each. Launch number N has a grid of N
blocks."""
import json
import os
import sys
import warnings

import host

warnings.simplefilter("ignore", DeprecationWarning)  # about fork() with other threads running

expected = {}
here = sys._getframe
# Numbers continue from the previous start of the interpreter.
path = os.environ["FRAMES_OUT"]
first = 1 + 100 * sum(os.path.exists(f"{path}.{life}") for life in range(10))


def note(frame):
    frames = []
    while frame is not None:
        code = frame.f_code
        frames.append([code.co_filename, getattr(code, "co_qualname", code.co_name), frame.f_lineno, code.co_firstlineno])
        frame = frame.f_back
    number = first + len(expected)
    expected[number] = frames
    return number


def write(name):
    with open(name, "w") as out:
        json.dump({"frames": expected, "version": sys.version.split()[0]}, out)


def leaf():
    host.launch(note(here()))


def through_cpp():
    host.call(leaf)


def recursion(depth):
    return leaf() if depth == 0 else recursion(depth - 1)


def on_main():
    leaf()
    through_cpp()
    recursion(40)
    pid = os.fork()
    if pid == 0:
        expected.clear()
        leaf()
        through_cpp()
        write(f"{path}.child.{os.getpid()}")
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    leaf()


def on_thread():
    leaf()
    through_cpp()


def write_down():
    leaf()
    write(f"{path}.{first // 100}")


host.launch(note(here()))
