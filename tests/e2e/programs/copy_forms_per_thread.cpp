// The same for a program with per-thread default streams: the copies without a stream go to the thread's stream.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: log 1: 1 memory_launch(cuMemcpy_ptds bytes=1001), 1 memory_launch(cuMemcpyAsync_ptsz bytes=1002)
// Expect: log 1: 1 memory_launch(cuMemcpyHtoD_v2_ptds bytes=1003), 1 memory_launch(cuMemcpyHtoDAsync_v2_ptsz bytes=1004)
// Expect: log 1: 1 memory_launch(cuMemcpyDtoH_v2_ptds bytes=1005), 1 memory_launch(cuMemcpyDtoHAsync_v2_ptsz bytes=1006)
// Expect: log 1: 1 memory_launch(cuMemcpyDtoD_v2_ptds bytes=1007), 1 memory_launch(cuMemcpyDtoDAsync_v2_ptsz bytes=1008)
// Expect: log 1: 1 memory_launch(cuMemcpyPeer_ptds bytes=1009), 1 memory_launch(cuMemcpyPeerAsync_ptsz bytes=1010)
// Expect: log 1: 1 memory_launch(cuMemcpy2D_v2_ptds bytes=147), 1 memory_launch(cuMemcpy2DUnaligned_v2_ptds bytes=154)
// Expect: log 1: 1 memory_launch(cuMemcpy2DAsync_v2_ptsz bytes=161), 1 memory_launch(cuMemcpy3D_v2_ptds bytes=504)
// Expect: log 1: 1 memory_launch(cuMemcpy3DAsync_v2_ptsz bytes=525), 1 memory_launch(cuMemcpy3DPeer_ptds bytes=546)
// Expect: log 1: 1 memory_launch(cuMemcpy3DPeerAsync_ptsz bytes=567), 1 memory_launch(cuMemsetD8_v2_ptds bytes=1018)
// Expect: log 1: 1 memory_launch(cuMemsetD8Async_ptsz bytes=1019), 1 memory_launch(cuMemsetD2D8_v2_ptds bytes=150)
// Expect: log 1: 1 memory_launch(cuMemsetD2D8Async_ptsz bytes=155), 1 memory_launch(cuMemsetD16_v2_ptds bytes=2044)
// Expect: log 1: 1 memory_launch(cuMemsetD16Async_ptsz bytes=2046), 1 memory_launch(cuMemsetD2D16_v2_ptds bytes=340)
// Expect: log 1: 1 memory_launch(cuMemsetD2D16Async_ptsz bytes=350), 1 memory_launch(cuMemsetD32_v2_ptds bytes=4104)
// Expect: log 1: 1 memory_launch(cuMemsetD32Async_ptsz bytes=4108), 1 memory_launch(cuMemsetD2D32_v2_ptds bytes=760)
// Expect: log 1: 1 memory_launch(cuMemsetD2D32Async_ptsz bytes=780)
// Expect: log 1: 29 memory_launch, counter unhooked_launch_api 0, 0 lost, whole
// Expect: log 1: 1 stream(type=2), 1 stream(type=1), no stream(type=0)
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "copy_forms.h"

int main() { copy_forms::call_all(); }
