"""A CuPy program for scripts/gpu-check: NVRTC kernels, cuBLAS, cuFFT, cub, streams and copies. Prints nothing that
depends on time."""
import cupy
import numpy

RAW = cupy.RawKernel(r"""
extern "C" __global__ void add_one(float* values, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += 1.0f;
}""", "add_one")
FUSED = cupy.ElementwiseKernel("float32 a, float32 b", "float32 c", "c = a * b + 1.0f", "fused_multiply")

host = numpy.arange(1 << 16, dtype=numpy.float32) / (1 << 16)
values = cupy.asarray(host)
for _ in range(100):
    RAW((256,), (256,), (values, numpy.int32(values.size)))
matrix = values.reshape(256, 256)
for _ in range(20):
    product = matrix @ matrix
    other = FUSED(values, values)
    total = float(cupy.sqrt(other).sum())
streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
cupy.cuda.Device().synchronize()
for stream in streams:
    with stream:
        for _ in range(50):
            copied = values * 2
        spectrum = cupy.fft.fft(copied[:4096])
    stream.synchronize()
ordered = cupy.sort(-values)
back = cupy.asnumpy(ordered)
print(f"sum {total:.0f} product {float(product[0, 0]):.0f} first {back[0]:.3f} fft {float(abs(spectrum[0])):.0f}")
