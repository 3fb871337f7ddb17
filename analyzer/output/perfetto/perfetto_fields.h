// Field numbers and enumerators of Perfetto's trace format, from the published .proto files (protos/perfetto/trace).
// Only those that packet_writer.cpp, interned_texts.h and render_stages.cpp write.
#pragma once

#include <protozero/types.hpp>

#include <cstdint>

namespace prof::analyzer::perfetto {

using Field = protozero::pbf_tag_type;

namespace trace {
inline constexpr Field kPacket = 1;
}
namespace packet {
inline constexpr Field kClockSnapshot = 6, kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInternedData = 12,
                       kSequenceFlags = 13, kRenderStage = 53, kClock = 58, kDefaults = 59, kTrackDescriptor = 60,
                       kFirstOnSequence = 87;
inline constexpr uint32_t kStateCleared = 1;
}  // namespace packet
namespace snapshot {
inline constexpr Field kClocks = 1, kClockId = 1, kTime = 2, kIncremental = 3;
inline constexpr uint32_t kBootTime = 6, kFirstOwnClock = 64, kLastOwnClock = 127;
}  // namespace snapshot
namespace defaults {
inline constexpr Field kTrackEvent = 11, kClock = 58, kTrack = 11;
}
namespace descriptor {
inline constexpr Field kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8, kChildOrdering = 11,
                       kRank = 12, kMerge = 15;
inline constexpr Field kProcessPid = 1, kProcessSort = 3, kProcessName = 6;
inline constexpr Field kThreadPid = 1, kThreadTid = 2, kThreadSort = 3, kThreadName = 5;
inline constexpr Field kCounterUnit = 3, kCounterUnitName = 6;
inline constexpr uint32_t kExplicit = 3, kMergeByName = 1, kMergeNever = 2, kBytes = 3;
}  // namespace descriptor
namespace event {
inline constexpr Field kCategory = 3, kAnnotation = 4, kLegacy = 6, kType = 9, kName = 10, kTrack = 11, kPlainName = 23,
                       kCounter = 30, kRealCounter = 44, kFlow = 47, kFlowEnd = 48;
inline constexpr Field kLegacyBindId = 8, kLegacyFlowDirection = 13;
inline constexpr uint32_t kBegin = 1, kEnd = 2, kInstant = 3, kCounterType = 4, kFlowIn = 1, kFlowOut = 2;
}  // namespace event
namespace annotation {
inline constexpr Field kName = 1, kBool = 2, kUint = 3, kInt = 4, kDouble = 5, kString = 6, kEntries = 11,
                       kElements = 12, kText = 17;
}
namespace interned {
inline constexpr Field kCategories = 1, kNames = 2, kAnnotationNames = 3, kContexts = 23, kGpuSpecifications = 24,
                       kTexts = 29;
inline constexpr Field kIid = 1, kText = 2, kSpecificationCategory = 4, kContextPid = 2, kContextApi = 3;
inline constexpr uint32_t kCompute = 2, kCuda = 4;
}  // namespace interned
namespace stage {
inline constexpr Field kEvent = 1, kDuration = 2, kContext = 5, kGpu = 11, kQueue = 13, kStage = 14, kLaunch = 21;
inline constexpr Field kGrid = 1, kBlock = 2, kArgument = 3, kArgumentName = 2, kArgumentUint = 4, kArgumentReal = 5;
}  // namespace stage

}  // namespace prof::analyzer::perfetto
