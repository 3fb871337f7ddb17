// How many bytes does a collective move? Sizes and bandwidths as nccl-tests defines them (NVIDIA/nccl-tests,
// doc/PERFORMANCE.md). The "algorithm bandwidth" is the size S of the operation divided by its time. The "bus
// bandwidth" multiplies it by a factor that makes it the rate at which each rank sends, for any operation and number of
// ranks. It is comparable to the peak of a link.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace prof::analyzer {

enum class CollectiveKind : uint8_t {
  Other,  // none of the kinds below: the size is unknown
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Broadcast,
  Reduce,
  Gather,
  Scatter,
  Barrier,  // moves nothing
  PointToPoint
};

// Whether such an operation has a size.
constexpr bool moves_bytes(CollectiveKind kind) {
  return kind != CollectiveKind::Other && kind != CollectiveKind::Barrier;
}

// The kind of an NCCL function ("ncclAllGather") or of a PyTorch name ("_allgather_base", "send 0->1").
CollectiveKind collective_kind(std::string_view name);

// "all-reduce"; Other: "other". collective_kind() of it is the kind.
std::string_view collective_kind_text(CollectiveKind kind);

// Bytes of an element of a PyTorch tensor type ("Float", "BFloat16"); 0: unknown type.
uint64_t element_bytes(std::string_view type);

// S in bytes, from the message size of one rank's NCCL call. For collectives that gather, scatter or exchange, the
// message is the part of one rank and S is the sum over all ranks. nullopt: the kind has no S, or `ranks` is needed and
// unknown (0).
std::optional<uint64_t> collective_size(CollectiveKind kind, uint64_t message_bytes, uint64_t ranks);

// nullopt: the kind has no factor, or `ranks` is needed and unknown (0).
std::optional<double> bus_factor(CollectiveKind kind, uint64_t ranks);

}  // namespace prof::analyzer
