// How much does a collective move? Sizes and bandwidths as nccl-tests defines them (NVIDIA/nccl-tests, doc/PERFORMANCE.md): the
// "algorithm bandwidth" is the size S of the operation over its time, the "bus bandwidth" that times a factor which makes it the
// rate at which each rank sends, whatever the operation and the number of ranks: it compares with the peak of a link.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace prof::analyzer {

enum class CollectiveKind : uint8_t {
  Other,  // none of those below: no size is known
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Broadcast,
  Reduce,
  Gather,
  Scatter,
  PointToPoint
};

// Of a function of NCCL ("ncclAllGather") or a name of PyTorch's ("_allgather_base", "send 0->1").
CollectiveKind collective_kind(std::string_view name);

// Bytes of an element, by the name of a type of PyTorch's tensors ("Float", "BFloat16"); 0: not known.
uint64_t element_bytes(std::string_view type);

// S in bytes, of what one rank's call of NCCL names: of those that gather, scatter or exchange it names the part of one rank, and S
// is that of all. Nothing: `ranks` is missing (0) and matters, or there is no S.
std::optional<uint64_t> collective_size(CollectiveKind kind, uint64_t message_bytes, uint64_t ranks);

// Nothing: `ranks` is missing (0) and matters, or there is none.
std::optional<double> bus_factor(CollectiveKind kind, uint64_t ranks);

}  // namespace prof::analyzer
