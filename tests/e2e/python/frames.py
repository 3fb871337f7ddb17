"""Launches kernels from every kind of Python frame and records, at the same places, the stack that the interpreter
itself sees. Launch number N has a grid of N blocks. Runs on CPython 3.8 and newer; python_stacks.py compares."""
import asyncio
import atexit
import contextlib
import ctypes
import functools
import gc
import json
import os
import sys
import threading

cuda = ctypes.CDLL("libcuda.so.1")  # its calls release the GIL
held = ctypes.PyDLL("libcuda.so.1")  # these do not
context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuModuleLoadData(ctypes.byref(module), b"image") == 0
assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"kernel") == 0

expected, names = {}, {}
NULL = ctypes.c_void_p()


def note(what, frame):
    """Records the stack from `frame` outwards under a new number and returns the number."""
    frames = []
    while frame is not None:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        frames.append([code.co_filename, name, frame.f_lineno or 0, code.co_firstlineno])
        frame = frame.f_back
    number = len(expected) + 1
    expected[number], names[number] = frames, what
    return number


def direct(number, library=cuda):
    """Has no frame of its own: the called object is the C function."""
    return functools.partial(library.cuLaunchKernel, function, number, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)


here = sys._getframe
# Every launch is on the line that records the stack, so that both see the same lines.
direct(note("module", here()))()


def nested():
    def inner():
        def innermost():
            direct(note("nested", here()))(), None
        innermost()
    inner()


nested()


class Shape:
    direct(note("class body", here()))()

    def __init__(self):
        direct(note("constructor", here()))()

    def method(self):
        direct(note("method", here()))()

    @property
    def area(self):
        return direct(note("property", here()))()

    @staticmethod
    def static():
        direct(note("static method", here()))()

    @classmethod
    def of_class(cls):
        direct(note("class method", here()))()

    def __del__(self):
        direct(note("finalizer", here()))()

    def __lt__(self, other):
        direct(note("comparison", here()))()
        return False


def specialized():
    """Repeats often enough for the interpreter to push the constructor's frame itself, after an entry that is not a
    frame."""
    for _ in range(100):
        shape = Shape()
    shape.method(), shape.area, Shape.static(), Shape.of_class()
    sorted([shape, Shape(), Shape()])


specialized()
(lambda: direct(note("lambda", here()))())()
[direct(note("list comprehension", here()))() for _ in range(2)]
{k: direct(note("dict comprehension", here()))() for k in range(2)}


def comprehension_in_function():
    return [direct(note("comprehension in a function", here()))() for _ in range(2)]


comprehension_in_function()
sum(direct(note("generator expression", here()))() for _ in range(2))


def generator():
    direct(note("generator, first", here()))()
    yield 1
    direct(note("generator, resumed", here()))()
    yield 2


def delegating():
    yield from generator()


for _ in delegating():
    pass
list(map(lambda x: direct(note("map", here()))(), range(2)))


async def leaf():
    direct(note("coroutine", here()))()
    await asyncio.sleep(0)
    direct(note("coroutine, resumed", here()))()


async def agen():
    direct(note("asynchronous generator", here()))()
    yield 1


async def tree():
    await leaf()
    await asyncio.gather(leaf(), leaf())
    async for _ in agen():
        direct(note("async for", here()))()


asyncio.run(tree())


def decorator(wrapped):
    @functools.wraps(wrapped)
    def wrapper(*args):
        return wrapped(*args)
    return wrapper


@decorator
def decorated():
    direct(note("decorated", here()))()


decorated()


def recursion(depth):
    if depth == 0:
        direct(note("recursion", here()))()
    else:
        recursion(depth - 1)


recursion(40)
recursion(300)


def exceptions():
    try:
        raise ValueError
    except ValueError:
        direct(note("except", here()))()
    finally:
        direct(note("finally", here()))()
    direct(note("after an exception", here()))()


exceptions()


@contextlib.contextmanager
def managed():
    direct(note("context manager, enter", here()))()
    yield
    direct(note("context manager, exit", here()))()


with managed():
    direct(note("with", here()))()
exec(compile("direct(note('exec', here()))()", "<made up>", "exec"))
eval("direct(note('eval', here()))()")
exec(compile("\n" * 40000 + "def far():\n" + "\n" * 300 + "  x = (1,\n" + "\n" * 200 + "  direct(note('long gaps', here()))())\nfar()", "gaps.py", "exec"))
exec(compile("def café():\n direct(note('Latin-1 name', here()))()\ncafé()", "<naïf>", "exec"))
exec(compile("def 名前():\n direct(note('two-byte name', here()))()\n名前()", "<ファイル>", "exec"))
exec(compile("def \U00010400():\n direct(note('four-byte name', here()))()\n\U00010400()", "<\U0001f40d>", "exec"))
exec(compile("def same():\n  direct(note('recompiled', here()))()\nsame()", "again.py", "exec"))
exec(compile("\n\n\ndef same():\n\n  direct(note('recompiled', here()))()\nsame()", "again.py", "exec"))
for lines in range(300):  # code objects are made and freed; addresses are reused
    gc.collect(0)
    exec(compile("\n" * lines + "def same():\n" + "\n" * (lines % 7) + "  direct(note('reused', here()))()\nsame()", "reused.py", "exec"))
# The same name, file and first line, often at the same address: only the contents of the line table differ.
texts = ["def same():\n" + "\n" * gap + "  direct(note('same but for a line', here()))()\nsame()\ndel same" for gap in range(5)]
for _ in range(100):
    for text in texts:
        exec(compile(text, "reused.py", "exec"))


def leaf_of_many():
    direct(note("changing callers", here()))()


def below(depth, call):
    return call() if depth == 0 else below(depth - 1, call)


def alternating(resumed):
    """The same innermost frames below changing callers, and vice versa; a generator resumed by both."""
    for depth in (0, 3, 1, 30, 31, 2, 30):
        below(depth, leaf_of_many)
        below(depth, nested)
        below(depth, lambda: next(resumed))
        below(depth, leaf_of_many), below(depth + 1, leaf_of_many)


def resumed_often():
    while True:
        direct(note("generator, resumed below changing callers", here()))()
        yield


endless = resumed_often()
alternating(endless)
below(5, lambda: alternating(endless))
number = note("many lines", here())
direct(
    number)(
    )
expected[number][0][2] += 1
direct(note("holding the GIL", here()), held)()

callback_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


@callback_type
def compare(a, b):
    direct(note("callback of C", here()))()
    return 0


ctypes.CDLL(None).qsort((ctypes.c_int * 4)(3, 1, 2, 0), 4, 4, compare)


def in_thread(what):
    assert cuda.cuCtxSetCurrent(context) == 0
    nested()
    direct(note(what, here()))()


for i in range(20):
    thread = threading.Thread(target=in_thread, args=("thread",))
    thread.start()
    thread.join()
# Several threads at once, so that the GIL changes its owner inside the calls.
lock, threads = threading.Lock(), []


def busy():
    assert cuda.cuCtxSetCurrent(context) == 0
    for _ in range(200):
        with lock:
            number = note("busy thread", here()); call = direct(number)
            expected[number][0][2] += 2  # the line of the call
        call()


for i in range(4):
    threads.append(threading.Thread(target=busy))
    threads[-1].start()
for thread in threads:
    thread.join()


def subinterpreter():
    """Launches 5000 and 5001 belong to this function. Modules and signatures moved between versions."""
    text = ("import ctypes\ndef launch(library, number): library('libcuda.so.1').cuLaunchKernel("
            f"ctypes.c_void_p({function.value}), number, 1, 1, 1, 1, 1, 0, *[ctypes.c_void_p()] * 3)\n"
            "launch(ctypes.PyDLL, 5000)\nlaunch(ctypes.CDLL, 5001)\n")
    try:
        if sys.version_info >= (3, 13):
            import _interpreters as interpreters
            made = interpreters.create("legacy")
            result = interpreters.exec(made, text)
        else:
            import _xxsubinterpreters as interpreters
            made = interpreters.create() if sys.version_info < (3, 12) else interpreters.create(isolated=False)
            result = interpreters.run_string(made, text)
        names[5000] = "subinterpreter" if result is None else f"not run: {result}"
        direct(note("beside a subinterpreter", here()), held)()
        direct(note("beside a subinterpreter, without the GIL", here()))()
        interpreters.destroy(made)
    except Exception as error:  # a version without these modules
        names[5000] = f"not run: {error!r}"
    direct(note("after a subinterpreter", here()))()


subinterpreter()


def at_exit():
    direct(note("atexit", here()))()
    with open(os.environ["FRAMES_OUT"], "w") as out:
        json.dump({"frames": expected, "names": names, "version": "%d.%d.%d" % sys.version_info[:3]}, out)


class Late:
    """Runs while the interpreter finalizes: libprof reads no frames, and nothing may crash."""

    def __del__(self):
        cuda.cuLaunchKernel(function, 6000, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)


sys.modules["late"] = Late()
atexit.register(at_exit)
