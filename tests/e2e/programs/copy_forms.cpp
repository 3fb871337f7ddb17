// Every form of copy and fill is recorded under its name with its bytes.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: log 1: 1 memory_launch(cuMemcpy bytes=1001), 1 memory_launch(cuMemcpyAsync bytes=1002)
// Expect: log 1: 1 memory_launch(cuMemcpyHtoD_v2 bytes=1003), 1 memory_launch(cuMemcpyHtoDAsync_v2 bytes=1004)
// Expect: log 1: 1 memory_launch(cuMemcpyDtoH_v2 bytes=1005), 1 memory_launch(cuMemcpyDtoHAsync_v2 bytes=1006)
// Expect: log 1: 1 memory_launch(cuMemcpyDtoD_v2 bytes=1007), 1 memory_launch(cuMemcpyDtoDAsync_v2 bytes=1008)
// Expect: log 1: 1 memory_launch(cuMemcpyPeer bytes=1009), 1 memory_launch(cuMemcpyPeerAsync bytes=1010)
// Expect: log 1: 1 memory_launch(cuMemcpy2D_v2 bytes=147), 1 memory_launch(cuMemcpy2DUnaligned_v2 bytes=154)
// Expect: log 1: 1 memory_launch(cuMemcpy2DAsync_v2 bytes=161), 1 memory_launch(cuMemcpy3D_v2 bytes=504)
// Expect: log 1: 1 memory_launch(cuMemcpy3DAsync_v2 bytes=525), 1 memory_launch(cuMemcpy3DPeer bytes=546)
// Expect: log 1: 1 memory_launch(cuMemcpy3DPeerAsync bytes=567), 1 memory_launch(cuMemsetD8_v2 bytes=1018)
// Expect: log 1: 1 memory_launch(cuMemsetD8Async bytes=1019), 1 memory_launch(cuMemsetD2D8_v2 bytes=150)
// Expect: log 1: 1 memory_launch(cuMemsetD2D8Async bytes=155), 1 memory_launch(cuMemsetD16_v2 bytes=2044)
// Expect: log 1: 1 memory_launch(cuMemsetD16Async bytes=2046), 1 memory_launch(cuMemsetD2D16_v2 bytes=340)
// Expect: log 1: 1 memory_launch(cuMemsetD2D16Async bytes=350), 1 memory_launch(cuMemsetD32_v2 bytes=4104)
// Expect: log 1: 1 memory_launch(cuMemsetD32Async bytes=4108), 1 memory_launch(cuMemsetD2D32_v2 bytes=760)
// Expect: log 1: 1 memory_launch(cuMemsetD2D32Async bytes=780)
// Expect: log 1: 29 memory_launch, counter unhooked_launch_api 0, 0 lost, whole
#include "copy_forms.h"

int main() { copy_forms::call_all(); }
