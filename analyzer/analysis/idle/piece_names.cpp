#include "analyzer/analysis/idle/piece_names.h"

#include <fmt/format.h>

namespace prof::analyzer {

namespace {

enum Named : uint64_t { kNothing, kEvent, kOperation, kStream, kThread };

constexpr uint64_t key_of(Named what, uint64_t id) { return what << 56 | id; }

}  // namespace

uint64_t PieceNames::key(const DeviceGap& gap, const GapPiece& piece) const {
  const Trace& trace = input_.trace;
  switch (piece.part()) {
    case GapPart::Synchronize:
    case GapPart::CopyCall:
    case GapPart::Allocation:
    case GapPart::QueueFull:
    case GapPart::LaunchCall:
    case GapPart::OtherCall: return key_of(kEvent, index(names_.of(trace.host[piece.call])));
    case GapPart::Python:
    case GapPart::UnknownWait:
    case GapPart::Operator:
      return piece.range == kNone ? 0 : key_of(kEvent, index(names_.of(trace.ranges[piece.range])));
    case GapPart::Waiting: return key_of(kThread, piece.thread);
    case GapPart::StreamWait:
    case GapPart::ValueWait: return piece.waits_stream == kNone ? 0 : key_of(kStream, piece.waits_stream);
    case GapPart::HostFunction:
      return piece.waits_call == kNone ? 0 : key_of(kEvent, index(names_.of(trace.host[piece.waits_call])));
    case GapPart::LaunchLatency:
    case GapPart::Queued:
    case GapPart::Unknown:
    case GapPart::Unlinked:
      return key_of(kOperation, operation_name_key(input_.views.names(), trace.operations[gap.operation]));
    default: return 0;
  }
}

std::string PieceNames::text(uint64_t key) const {
  const Trace& trace = input_.trace;
  const auto id = static_cast<uint32_t>(key);
  switch (key >> 56) {
    case kEvent: return std::string(names_.text(StringId{id}));
    case kOperation:
      return std::string(name_of_key(input_.views.names(), key & ~(uint64_t{0xff} << 56), input_.options.names));
    case kStream:
      return fmt::format("device {} stream {}", trace.device(trace.streams[id].device).ordinal,
                         trace.streams[id].number);
    case kThread: return fmt::format("thread {}", trace.threads[id].tid);
    default: return {};
  }
}

}  // namespace prof::analyzer
