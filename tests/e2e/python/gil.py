"""Launches, and after each launch waits for the GIL, which another thread holds while it counts. For
drivers/host_samples.py."""
import ctypes
import sys
import threading
import time

cuda = ctypes.CDLL("libcuda.so.1")
context, module, kernel = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
sys.setswitchinterval(0.05)  # s: for so long a thread keeps the GIL


def count_forever():
    number = 0
    while running:
        number += 1


def check(result):
    assert result == 0, result


check(cuda.cuInit(0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))
check(cuda.cuModuleLoadData(ctypes.byref(module), b"image"))
check(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"vector_add"))
running = True
other = threading.Thread(target=count_forever)
other.start()
for _ in range(20):
    check(cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None))
    check(cuda.cuCtxSynchronize())
    time.sleep(0.001)
running = False
other.join()
