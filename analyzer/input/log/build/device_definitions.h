// Which devices, contexts and streams does a log define? Maps their numbers to rows of the model. Offline, inside the
// builder only.
#pragma once

#include "analyzer/input/log/build/staging.h"
#include "analyzer/input/log/log_definitions.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace prof::analyzer {

class DeviceImporter {
 public:
  DeviceImporter(LogInput& input, const LogDefinitions& from, Trace& to)
      : input_(input), ids_(input.ids), from_(from), to_(to) {}

  void run() {
    devices();
    streams();
  }

  // The row of a device. It is added if there is none.
  DeviceId device(uint32_t ordinal);

 private:
  void devices();
  void streams();
  StreamId stream(uint32_t device_ordinal, uint32_t context, uint32_t number);
  // If hardware counters are measured, no GPU record names a stream; only launches do. A stream whose number the
  // recorder could not query gets the next free number in its context.
  uint32_t unseen_stream(const format::ContextDef& context, uint32_t gpu_stream);

  LogInput& input_;
  LogIds& ids_;
  const LogDefinitions& from_;
  Trace& to_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> free_number_;         // device, context
  std::unordered_map<uint32_t, uint32_t> devices_;                        // ordinal -> DeviceId
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> streams_;  // device, context, stream -> StreamId
};

}  // namespace prof::analyzer
