// Which ids does a log contain? An id names a definition record (definitions.h). The value 0 always means "none" or
// "not known". Ids are unique in one log. A definition must be committed before its id appears in an event. The
// recorder assigns the ids, and the reader resolves them.
#pragma once

#include <cstdint>

namespace prof::format {

enum class StringId : uint32_t {};       // StringPart
enum class ApiId : uint32_t {};          // ApiDef: a row of cuda_api.def or cudart_api.def, numbered at its first call
enum class FunctionId : uint32_t {};     // FunctionDef: a kernel function of one module load
enum class ModuleId : uint32_t {};       // ModuleDef
enum class ConfigId : uint32_t {};       // ConfigDef: function + launch shape as requested by the host
enum class ContextId : uint32_t {};      // ContextDef
enum class StreamId : uint32_t {};       // StreamDef: a stream handle from its creation to its destruction
enum class PoolId : uint32_t {};         // MemoryPoolDef: a pool handle from its creation to its destruction
enum class GraphId : uint32_t {};        // GraphDef: one executable graph
enum class GpuStreamId : uint32_t {};    // GpuStreamDef: (device, context, stream) as CUPTI numbers them
enum class GpuKernelId : uint32_t {};    // GpuKernelDef: name + shape + registers as CUPTI reports them
enum class LabelId : uint32_t {};        // NvtxLabelDef: domain, text, colour, category of an NVTX event
enum class DomainId : uint32_t {};       // NvtxDomainDef; 0 is NVTX's default domain
enum class StackId : uint32_t {};        // StackDef: the frames of one call
enum class PythonFrameId : uint32_t {};  // PythonFrameDef
enum class ImageId : uint32_t {};        // ImageDef: an ELF file mapped into the process
enum class SchemaId : uint32_t {};       // NvtxSchemaDef: layout of the bytes of an extended payload
enum class NvtxCounterId : uint32_t {};  // NvtxCounterDef
enum class CounterSetId : uint32_t {};   // CounterSetDef: hardware counters that are measured on a context
enum class SampledSetId : uint32_t {};   // SampledSetDef: hardware counters that are sampled on a GPU
enum class CubinId : uint32_t {};        // CubinDef: the machine code of a module, by its contents
enum class ThreadOrdinal : uint32_t {};  // ThreadDef: 1, 2, … in order of first record; never reused

// Ids from here on are for one use: no table had room for the contents. Their definition is an event of the thread that
// uses it, before the record that does. codec.h lists their kinds: IdsForOneUse.
inline constexpr uint32_t kFirstOnceId = 1u << 22;

}  // namespace prof::format
