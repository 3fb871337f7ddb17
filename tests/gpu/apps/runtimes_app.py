"""Loads each given CUDA runtime and uses it: memory, ten fills, a copy to the host. Prints the copied bytes.

runtimes_app.py LIBCUDART...
"""
import ctypes
import sys

BYTES, FILLS = 4096, 10


def use(path):
    runtime = ctypes.CDLL(path, mode=ctypes.RTLD_LOCAL)

    def call(name, *arguments):
        result = getattr(runtime, name)(*arguments)
        if result != 0:
            sys.exit(f"{path}: {name}: {result}")
    memory, host = ctypes.c_void_p(), (ctypes.c_ubyte * BYTES)()
    call("cudaMalloc", ctypes.byref(memory), ctypes.c_size_t(BYTES))
    for i in range(FILLS):
        call("cudaMemsetAsync", memory, ctypes.c_int(i), ctypes.c_size_t(BYTES), ctypes.c_void_p())
    call("cudaMemcpy", host, memory, ctypes.c_size_t(BYTES), ctypes.c_int(2))
    call("cudaFree", memory)
    return sum(host)


for library in sys.argv[1:]:
    print(use(library))
