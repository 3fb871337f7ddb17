#include "analyzer/input/kineto/kineto_streams.h"

#include "analyzer/base/json/json_decimal.h"
#include "analyzer/input/kineto/kineto_category.h"
#include "analyzer/input/kineto/kineto_numbers.h"
#include "analyzer/input/kineto/kineto_rows.h"

#include <algorithm>
#include <optional>

namespace prof::analyzer {

uint32_t KinetoStreams::number(const KinetoStreamKey& key) {
  const auto [found, added] = numbers_.try_emplace(key, row_count(keys_));
  if (added) keys_.push_back(key);
  return found->second;
}

uint32_t KinetoStreams::first_on_device(uint32_t device) const {
  const auto found =
      std::find_if(keys_.begin(), keys_.end(), [&](const KinetoStreamKey& key) { return key.device == device; });
  return found == keys_.end() ? kNone : static_cast<uint32_t>(found - keys_.begin());
}

void KinetoStreams::name_lanes(const KinetoThreads& threads) {
  std::map<std::pair<StringId, int64_t>, uint32_t> stream_of_lane;  // (pid, lane)
  for (const KinetoThreads::Track& track : threads.named_tracks()) {
    int64_t lane = 0;
    const std::optional<uint32_t> stream = number_after(trace_.strings[track.thread_name], "GPU Stream ");
    if (stream && to_int64(trace_.strings[track.tid], lane) == DecimalResult::Ok)
      stream_of_lane[{track.pid, lane}] = *stream;
  }
  for (KinetoStreamKey& key : keys_) {
    const auto found = stream_of_lane.find({key.pid, int64_t{key.number}});
    if (found != stream_of_lane.end()) key.number = found->second;
  }
}

uint32_t KinetoStreams::device(uint32_t process, uint32_t ordinal) {
  const auto [device, added] = devices_.try_emplace({process, ordinal}, row_count(trace_.devices));
  if (added) {
    Device& row = trace_.devices.emplace_back();
    row.process = ProcessId{process};
    row.ordinal = ordinal;
  }
  return device->second;
}

uint32_t KinetoStreams::row(uint32_t process, uint32_t number) {
  const auto [found, added] = rows_.try_emplace({process, number}, 0);
  if (!added) return found->second;
  const KinetoStreamKey& key = keys_[number];
  const uint32_t device = this->device(process, key.device);
  // The pid of a GPU event says no more than its device: the same stream under two pids is one.
  const auto [same, first] = same_stream_.try_emplace({device, key.context, key.number}, row_count(trace_.streams));
  found->second = same->second;
  if (first) {
    Stream& row = trace_.streams.emplace_back();
    row.device = DeviceId{device};
    row.context = key.context;
    row.number = key.number;
  }
  if (!key.in_order) trace_.streams[same->second].in_order = false;
  return found->second;
}

void KinetoStreams::assign(const LaunchingProcesses& launchers, KinetoSummary& summary) {
  const std::vector<uint32_t> owners = assign_operations(launchers, summary);
  assign_syncs(launchers, owners);
  assign_annotations(owners);
}

// Returns, for each number, the process that uses it most: what no call launched is given to it.
std::vector<uint32_t> KinetoStreams::assign_operations(const LaunchingProcesses& launchers, KinetoSummary& summary) {
  const size_t count = trace_.operations.size() - mark_.operations;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> uses;  // (number, process)
  for (size_t i = 0; launchers.only == kNone && i < count; ++i) {
    const uint32_t process = launchers.of_operation(i);
    if (process != kNone) ++uses[{uint32_t{trace_.operations[mark_.operations + i].stream_index}, process}];
  }
  std::vector<uint32_t> owners(keys_.size(), mark_.processes);
  std::vector<uint64_t> most(keys_.size());
  for (const auto& [use, times] : uses) {
    if (times <= most[use.first]) continue;
    most[use.first] = times;
    owners[use.first] = use.second;
  }
  for (size_t i = 0; i < count; ++i) {
    GpuOperation& row = trace_.operations[mark_.operations + i];
    const uint32_t number = row.stream_index;
    uint32_t process = launchers.of_operation(i);
    if (process == kNone) {
      process = owners[number];
      summary.aside(KinetoAside::NoProcess);
    }
    row.set_stream(this->row(process, number));
  }
  return owners;
}

void KinetoStreams::assign_syncs(const LaunchingProcesses& launchers, const std::vector<uint32_t>& owners) {
  for (uint32_t i = mark_.syncs; i < trace_.syncs.size(); ++i) {
    SyncEvent& row = trace_.syncs[i];
    uint32_t process = launchers.of_sync(i - mark_.syncs);
    const uint32_t number = row.stream != kNone ? row.stream : row.waits_for;
    if (process == kNone) process = number == kNone ? mark_.processes : owners[number];
    row.process = process;
    if (row.stream != kNone) row.stream = this->row(process, row.stream);
    if (row.waits_for != kNone) row.waits_for = this->row(process, row.waits_for);
  }
}

// Annotations on a GPU name no context. They are on the stream of the operations that have the same device and number.
void KinetoStreams::assign_annotations(const std::vector<uint32_t>& owners) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> with_operations;  // (device, number of the stream) -> number
  for (uint32_t number = 0; number < keys_.size(); ++number) {
    if (rows_.contains({owners[number], number}))
      with_operations.try_emplace({keys_[number].device, keys_[number].number}, number);
  }
  for (uint32_t i = mark_.gpu_annotations; i < trace_.gpu_annotations.size(); ++i) {
    GpuAnnotation& row = trace_.gpu_annotations[i];
    uint32_t number = index(row.stream);
    const auto beside = with_operations.find({keys_[number].device, keys_[number].number});
    if (beside != with_operations.end()) number = beside->second;
    row.stream = StreamId{this->row(owners[number], number)};
  }
}

void KinetoStreams::describe_devices(const std::vector<KinetoDevice>& devices, const KinetoThreads& threads) {
  for (uint32_t row = mark_.devices; row < trace_.devices.size(); ++row) {
    for (const KinetoDevice& device : devices) {
      if (device.ordinal != trace_.devices[row].ordinal) continue;
      trace_.devices[row].name = device.name;
      trace_.devices[row].properties = device.properties;
    }
  }
  for (const auto& [place, stream] : rows_) {
    const KinetoStreamKey& key = keys_[place.second];
    Device& device = trace_.devices[index(trace_.streams[stream].device)];
    const std::string_view name = trace_.strings[threads.process_name(key.pid)];
    if (!key.in_order && device.name.empty() && is_device_name(name)) device.name = name;
  }
}

}  // namespace prof::analyzer
