// One event of a Chrome trace as text: the members that the importer uses. RapidJSON reads it in place (strings are
// unescaped where they are) and numbers stay text. Objects and arrays inside "args" are kept as text or not at all. An
// event that is no JSON is repaired if its meaning is clear (json_scan.h).
#pragma once

#include "analyzer/base/json/json_extent.h"
#include "analyzer/base/text_arena.h"

#include <rapidjson/reader.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class KinetoArgument : uint8_t {
  Name,
  Labels,
  Domain,
  ExternalId,
  Correlation,
  DeviceOrdinal,
  Context,
  StreamNumber,
  Registers,
  SharedMemory,
  Grid,
  Block,
  Bytes,
  CopyKind,
  GraphId,
  GraphNode,
  Priority,
  CountedKernel,
  FromDevice,
  ToDevice,
  Sequence,
  ForwardThread,
  InputDims,
  InputTypes,
  ConcreteInputs,
  CallStack,
  Flops,
  KernelFile,
  KernelHash,
  KernelBackend,
  NumWarps,
  NumStages,
  KernelGb,
  KernelFlop,
  KernelDetails,
  HloOp,
  HloModule,
  CollectiveName,
  InElements,
  OutElements,
  ElementType,
  GroupName,
  GroupSize,
  GroupRank,
  SourceRank,
  DestinationRank,
  CollectiveSequence,
  MemoryBytes,
  MemoryAddress,
  MemoryAllocated,
  MemoryReserved,
  MemoryDevice,
  MemoryDeviceType,
  SyncKindName,
  OfStream,
  WaitOnStream,
  WaitOnRecord,
  WaitOnEvent,
  kCount
};

// Texts point into the event. A text that was a JSON string is unescaped; a number, true and null are as written.
struct KinetoEvent {
  std::string_view ph, cat, name, pid, tid, ts, dur, id, scope;
  bool has_ts = false, has_dur = false, has_pid = false;
  bool repaired = false;  // the event is no JSON; texts are those of its repaired copy
  bool escapes = false;   // there is a backslash in it
  // Arguments that are values of hardware counters, by their names. Empty text: no number.
  struct Metric {
    std::string_view name, value;
  };
  std::vector<Metric> metrics;

  bool has(KinetoArgument argument) const { return (present_ >> static_cast<unsigned>(argument) & 1) != 0; }
  // Empty if the event has no such argument.
  std::string_view operator[](KinetoArgument argument) const {
    return has(argument) ? arguments_[static_cast<size_t>(argument)] : std::string_view();
  }
  void set(KinetoArgument argument, std::string_view text) {
    arguments_[static_cast<size_t>(argument)] = text;
    present_ |= uint64_t{1} << static_cast<unsigned>(argument);
  }
  void clear();

 private:
  uint64_t present_ = 0;
  std::string_view arguments_[static_cast<size_t>(KinetoArgument::kCount)];
};
static_assert(static_cast<size_t>(KinetoArgument::kCount) <= 64);

class KinetoEventReader {
 public:
  struct Error {
    size_t offset = 0;  // from the start of the event
    const char* what = nullptr;
  };
  // `made` holds the texts that the reader makes.
  explicit KinetoEventReader(TextArena& made) : made_(made) {}

  // The event is the object at `place` of `origin`; `nested` are the objects and arrays inside its "args". It is
  // written over; a few bytes after it must exist. False: it is no JSON, and cannot be repaired.
  bool read(char* origin, JsonPlace place, std::span<const JsonPlace> nested, KinetoEvent& event, Error& error);

 private:
  bool parse(char* origin, JsonPlace place, std::span<const JsonPlace> nested, KinetoEvent& event, Error& error);
  bool read_repaired(KinetoEvent& event, Error& error);
  void keep_nested(char* origin, JsonPlace event_place, JsonPlace place, KinetoEvent& event);

  TextArena& made_;
  std::string original_;  // the event, which parse() overwrites
  rapidjson::Reader reader_;
};

// "[1024, 1, 1]", "grid(100,)" or "2x3x4" -> up to three numbers, the rest 1; false: not such a text.
bool read_shape(std::string_view text, uint32_t (&shape)[3]);

// The text with its control characters of one letter (\b \f \n \r \t) as a backslash and that letter: the path in which
// a tracer did not escape backslashes. Empty: there is none of them.
std::string path_with_backslashes(std::string_view text);

// Whether an argument has the name of a metric of hardware counters: "dram__bytes_read.sum".
bool is_metric_name(std::string_view key);

}  // namespace prof::analyzer
