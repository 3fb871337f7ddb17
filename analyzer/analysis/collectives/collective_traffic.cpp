#include "analyzer/analysis/collectives/collective_traffic.h"

#include <string>
#include <utility>

namespace prof::analyzer {

CollectiveKind collective_kind(std::string_view name) {
  std::string plain;  // "_allgather_base" -> "allgatherbase"
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') plain += static_cast<char>(c - 'A' + 'a');
    if (c >= 'a' && c <= 'z') plain += c;
  }
  // A name that contains another name comes before it.
  constexpr std::pair<std::string_view, CollectiveKind> kNames[] = {
      {"allreduce", CollectiveKind::AllReduce}, {"reducescatter", CollectiveKind::ReduceScatter},
      {"allgather", CollectiveKind::AllGather}, {"alltoall", CollectiveKind::AllToAll},
      {"broadcast", CollectiveKind::Broadcast}, {"bcast", CollectiveKind::Broadcast},
      {"reduce", CollectiveKind::Reduce},       {"gather", CollectiveKind::Gather},
      {"scatter", CollectiveKind::Scatter},     {"barrier", CollectiveKind::Barrier},
      {"send", CollectiveKind::PointToPoint},   {"recv", CollectiveKind::PointToPoint}};
  for (const auto& [text, kind] : kNames) {
    if (plain.find(text) != std::string::npos) return kind;
  }
  return CollectiveKind::Other;
}

std::string_view collective_kind_text(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::AllReduce: return "all-reduce";
    case CollectiveKind::AllGather: return "all-gather";
    case CollectiveKind::ReduceScatter: return "reduce-scatter";
    case CollectiveKind::AllToAll: return "all-to-all";
    case CollectiveKind::Broadcast: return "broadcast";
    case CollectiveKind::Reduce: return "reduce";
    case CollectiveKind::Gather: return "gather";
    case CollectiveKind::Scatter: return "scatter";
    case CollectiveKind::Barrier: return "barrier";
    case CollectiveKind::PointToPoint: return "send";
    case CollectiveKind::Other: break;
  }
  return "other";
}

uint64_t element_bytes(std::string_view type) {
  constexpr std::pair<std::string_view, uint64_t> kTypes[] = {
      {"Byte", 1},     {"Char", 1},        {"Bool", 1},         {"Short", 2},         {"UInt16", 2}, {"Half", 2},
      {"BFloat16", 2}, {"Int", 4},         {"UInt32", 4},       {"Float", 4},         {"Long", 8},   {"UInt64", 8},
      {"Double", 8},   {"ComplexHalf", 4}, {"ComplexFloat", 8}, {"ComplexDouble", 16}};
  for (const auto& [name, bytes] : kTypes) {
    if (type == name) return bytes;
  }
  return type.starts_with("Float8_") ? 1 : 0;
}

std::optional<uint64_t> collective_size(CollectiveKind kind, uint64_t message_bytes, uint64_t ranks) {
  switch (kind) {
    case CollectiveKind::Other:
    case CollectiveKind::Barrier: return std::nullopt;
    case CollectiveKind::AllReduce:
    case CollectiveKind::Broadcast:
    case CollectiveKind::Reduce:
    case CollectiveKind::PointToPoint: return message_bytes;
    default: break;
  }
  uint64_t size = 0;
  if (ranks == 0 || __builtin_mul_overflow(message_bytes, ranks, &size)) return std::nullopt;
  return size;
}

std::optional<double> bus_factor(CollectiveKind kind, uint64_t ranks) {
  switch (kind) {
    case CollectiveKind::Other:
    case CollectiveKind::Barrier: return std::nullopt;
    case CollectiveKind::Broadcast:
    case CollectiveKind::Reduce:
    case CollectiveKind::PointToPoint: return 1;
    default: break;
  }
  if (ranks == 0) return std::nullopt;
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  return kind == CollectiveKind::AllReduce ? 2 * others : others;
}

}  // namespace prof::analyzer
