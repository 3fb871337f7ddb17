// Streams and devices of a trace.
#pragma once

#include "analyzer/input/import.h"
#include "analyzer/input/kineto/kineto_header.h"
#include "analyzer/input/kineto/kineto_summary.h"
#include "analyzer/input/kineto/kineto_threads.h"
#include "analyzer/model/trace.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace prof::analyzer {

// Where a GPU event ran, as far as it says so. In a file of several processes this means something only within one of
// them.
struct KinetoStreamKey {
  StringId pid{};
  uint32_t device = 0, context = 0, number = 0;
  bool in_order = true;  // see Stream
  auto operator<=>(const KinetoStreamKey&) const = default;
};

// The process that launched each new row of Trace::operations and Trace::syncs; kNone: not known. See KinetoLaunchers.
struct LaunchingProcesses {
  uint32_t only = kNone;                    // the file has no other process
  std::vector<uint32_t> operations, syncs;  // else: by row, from the mark on

  uint32_t of_operation(size_t i) const { return only != kNone ? only : operations[i]; }
  uint32_t of_sync(size_t i) const { return only != kNone ? only : syncs[i]; }
};

// KinetoStreams decides which row of Trace::streams (and so of Trace::devices) a GPU event is on. While the file is
// read each key has a number, and rows of GPU operations, synchronisations and annotations hold that number in place of
// the stream. assign() replaces the numbers after the last event, when it is known which process launched what.
class KinetoStreams {
 public:
  KinetoStreams(Trace& trace, const ImportMark& mark) : trace_(trace), mark_(mark) {}

  uint32_t number(const KinetoStreamKey& key);
  const KinetoStreamKey& key(uint32_t number) const { return keys_[number]; }
  // Number of the first key on that device; kNone: there is none.
  uint32_t first_on_device(uint32_t device) const;
  // Triton's proton writes a lane in place of the stream's number. The name of the lane's thread has the number.
  void name_lanes(const KinetoThreads& threads);

  // Row of Trace::devices.
  uint32_t device(uint32_t process, uint32_t ordinal);
  void assign(const LaunchingProcesses& launchers, KinetoSummary& summary);
  // Names and properties of the devices. A device that is not known here has the name of its process.
  void describe_devices(const std::vector<KinetoDevice>& devices, const KinetoThreads& threads);

 private:
  uint32_t row(uint32_t process, uint32_t number);
  std::vector<uint32_t> assign_operations(const LaunchingProcesses& launchers, KinetoSummary& summary);
  void assign_syncs(const LaunchingProcesses& launchers, const std::vector<uint32_t>& owners);
  void assign_annotations(const std::vector<uint32_t>& owners);

  Trace& trace_;
  const ImportMark& mark_;
  std::map<KinetoStreamKey, uint32_t> numbers_;
  std::vector<KinetoStreamKey> keys_;                                         // by number
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> rows_;                    // (process, number) -> StreamId
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> same_stream_;  // (DeviceId, context, number) -> StreamId
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> devices_;                 // (process, ordinal) -> DeviceId
};

}  // namespace prof::analyzer
