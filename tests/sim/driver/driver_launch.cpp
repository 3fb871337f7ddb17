// Kernel launches of every form, and occupancy. A kernel computes nothing: its name determines how long it runs.
#include "tests/sim/api_call.h"
#include "tests/sim/capture.h"
#include "tests/sim/device.h"
#include "tests/sim/graph.h"

namespace sim {
namespace {

struct Shape {
  Dim grid, block;
  unsigned shared_bytes = 0;
};

bool plausible(const Shape& shape) {
  const uint64_t threads = static_cast<uint64_t>(shape.block.x) * shape.block.y * shape.block.z;
  return shape.grid.x != 0 && shape.grid.y != 0 && shape.grid.z != 0 && threads != 0 && threads <= 1024;
}

Work kernel_of(const Function& function, const Shape& shape, bool overlaps, bool cooperative) {
  Work work;
  work.record.kind = OperationKind::Kernel;
  work.record.name = function.name;
  work.record.code_slot = slot_of(function);
  work.record.grid = shape.grid;
  work.record.block = shape.block;
  work.record.dynamic_shared = shape.shared_bytes;
  work.record.static_shared = static_cast<uint32_t>(function.told->static_shared);
  work.record.registers = static_cast<uint16_t>(function.told->registers);
  work.record.launch_type = cooperative ? 1 : 0;
  work.duration = function.told->duration;
  work.overlaps = overlaps || function.told->overlaps;
  work.asserts = function.told->asserts;
  return work;
}

CUresult launch(CUfunction handle, const Shape& shape, CUstream stream_handle, void** params, void** extra,
                bool overlaps, bool cooperative) {
  Stream* stream = resolve_stream(stream_handle);
  if (stream == nullptr) return why_no_stream();
  if (handle == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!plausible(shape)) return CUDA_ERROR_INVALID_VALUE;
  // Without CUPTI and capture, a kernel is only a launch: this path measures the cost of a hook.
  if (g_plain.load(std::memory_order_relaxed) && !stream->capturing.load(std::memory_order_relaxed))
    return CUDA_SUCCESS;
  const Function& function = *object<Function>(handle);
  set_call_symbol(function.name);
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_KERNEL;
  arguments.kernel.func = handle;
  arguments.kernel.gridDimX = shape.grid.x;
  arguments.kernel.gridDimY = shape.grid.y;
  arguments.kernel.gridDimZ = shape.grid.z;
  arguments.kernel.blockDimX = shape.block.x;
  arguments.kernel.blockDimY = shape.block.y;
  arguments.kernel.blockDimZ = shape.block.z;
  arguments.kernel.sharedMemBytes = shape.shared_bytes;
  arguments.kernel.kernelParams = params;
  arguments.kernel.extra = extra;
  return perform(stream, kernel_of(function, shape, overlaps, cooperative), false, &arguments);
}

struct OldShape {  // cuFuncSetBlockShape and friends: state of the function until cuLaunch
  Dim block;
  unsigned shared_bytes = 0;
};
thread_local OldShape tl_old_shape;

}  // namespace

CUresult kernel_work(const CUDA_KERNEL_NODE_PARAMS& params, Work* work) {
  CUfunction handle = params.func != nullptr ? params.func : reinterpret_cast<CUfunction>(params.kern);
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Shape shape{{params.gridDimX, params.gridDimY, params.gridDimZ},
                    {params.blockDimX, params.blockDimY, params.blockDimZ},
                    params.sharedMemBytes};
  if (!plausible(shape)) return CUDA_ERROR_INVALID_VALUE;
  *work = kernel_of(*object<Function>(handle), shape, false, false);
  return CUDA_SUCCESS;
}

}  // namespace sim

SIM_API(cuLaunchKernel)
(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
 unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream, void** kernelParams,
 void** extra) {
  return launch(f, {{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes}, hStream,
                kernelParams, extra, false, false);
}

SIM_API(cuLaunchKernelEx)(const CUlaunchConfig* config, CUfunction f, void** kernelParams, void** extra) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  bool overlaps = false, cooperative = false;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& one = config->attrs[i];
    if (one.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) {
      overlaps = one.value.programmaticStreamSerializationAllowed != 0;
    }
    if (one.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) cooperative = one.value.cooperative != 0;
  }
  return launch(f,
                {{config->gridDimX, config->gridDimY, config->gridDimZ},
                 {config->blockDimX, config->blockDimY, config->blockDimZ},
                 config->sharedMemBytes},
                config->hStream, kernelParams, extra, overlaps, cooperative);
}

SIM_API(cuLaunchCooperativeKernel)
(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
 unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream, void** kernelParams) {
  return launch(f, {{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes}, hStream,
                kernelParams, nullptr, false, true);
}

SIM_API(cuLaunchCooperativeKernelMultiDevice)
(CUDA_LAUNCH_PARAMS* launchParamsList, unsigned int numDevices, unsigned int) {
  for (unsigned i = 0; i < numDevices; ++i) {
    const CUDA_LAUNCH_PARAMS& one = launchParamsList[i];
    const CUresult result = launch(
        one.function,
        {{one.gridDimX, one.gridDimY, one.gridDimZ}, {one.blockDimX, one.blockDimY, one.blockDimZ}, one.sharedMemBytes},
        one.hStream, one.kernelParams, nullptr, false, true);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

SIM_API(cuFuncSetBlockShape)(CUfunction, int x, int y, int z) {
  tl_old_shape.block = {static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(z)};
  return CUDA_SUCCESS;
}
SIM_API(cuFuncSetSharedSize)(CUfunction, unsigned int bytes) {
  tl_old_shape.shared_bytes = bytes;
  return CUDA_SUCCESS;
}
SIM_API(cuParamSetSize)(CUfunction, unsigned int) { return CUDA_SUCCESS; }
SIM_API(cuParamSeti)(CUfunction, int, unsigned int) { return CUDA_SUCCESS; }
SIM_API(cuParamSetf)(CUfunction, int, float) { return CUDA_SUCCESS; }
SIM_API(cuParamSetv)(CUfunction, int, void*, unsigned int) { return CUDA_SUCCESS; }

SIM_API(cuLaunch)(CUfunction f) {
  return launch(f, {{1, 1, 1}, tl_old_shape.block, tl_old_shape.shared_bytes}, nullptr, nullptr, nullptr, false, false);
}
SIM_API(cuLaunchGrid)(CUfunction f, int grid_width, int grid_height) {
  return impl_cuLaunchGridAsync(f, grid_width, grid_height, nullptr);
}
SIM_API(cuLaunchGridAsync)(CUfunction f, int grid_width, int grid_height, CUstream hStream) {
  return launch(f,
                {{static_cast<uint32_t>(grid_width), static_cast<uint32_t>(grid_height), 1},
                 tl_old_shape.block,
                 tl_old_shape.shared_bytes},
                hStream, nullptr, nullptr, false, false);
}

SIM_API(cuOccupancyMaxActiveBlocksPerMultiprocessor)(int* numBlocks, CUfunction, int blockSize, size_t) {
  if (numBlocks == nullptr || blockSize <= 0) return CUDA_ERROR_INVALID_VALUE;
  *numBlocks = std::max(1, 2048 / blockSize);
  return CUDA_SUCCESS;
}
SIM_API(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
(int* numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize, unsigned int) {
  return impl_cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, func, blockSize, dynamicSMemSize);
}
SIM_API(cuOccupancyMaxPotentialBlockSize)
(int* minGridSize, int* blockSize, CUfunction, CUoccupancyB2DSize, size_t, int) {
  *minGridSize = 264;
  *blockSize = 1024;
  return CUDA_SUCCESS;
}
SIM_API(cuOccupancyMaxPotentialBlockSizeWithFlags)
(int* minGridSize, int* blockSize, CUfunction func, CUoccupancyB2DSize size, size_t dynamicSMemSize, int limit,
 unsigned int) {
  return impl_cuOccupancyMaxPotentialBlockSize(minGridSize, blockSize, func, size, dynamicSMemSize, limit);
}
SIM_API(cuOccupancyAvailableDynamicSMemPerBlock)(size_t* dynamicSmemSize, CUfunction, int, int) {
  *dynamicSmemSize = 49152;
  return CUDA_SUCCESS;
}
SIM_API(cuOccupancyMaxPotentialClusterSize)(int* clusterSize, CUfunction, const CUlaunchConfig*) {
  *clusterSize = 8;
  return CUDA_SUCCESS;
}
SIM_API(cuOccupancyMaxActiveClusters)(int* numClusters, CUfunction, const CUlaunchConfig*) {
  *numClusters = 16;
  return CUDA_SUCCESS;
}
