"""A CUDA context for programs of this folder that only need one, so that their threads are recorded."""
import ctypes


def make_context():
    """makes the primary context of device 0 current in the calling thread"""
    cuda = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    for result in (cuda.cuInit(0), cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
                   cuda.cuCtxSetCurrent(context)):
        assert result == 0, result
