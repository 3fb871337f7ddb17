// See device_definitions.h.
#include "analyzer/input/log/build/device_definitions.h"

#include <set>
#include <string>

namespace prof::analyzer {

DeviceId DeviceImporter::device(uint32_t ordinal) {
  const auto [found, added] = devices_.try_emplace(ordinal, static_cast<uint32_t>(to_.devices.size()));
  if (added) {
    to_.devices.emplace_back();
    to_.devices.back().process = input_.process;
    to_.devices.back().ordinal = ordinal;
  }
  return DeviceId{found->second};
}

void DeviceImporter::devices() {
  std::set<uint32_t> ordinals;  // rows are in order of ordinals
  from_.devices.for_each([&](uint32_t ordinal, const DefinedDevice&) { ordinals.insert(ordinal); });
  from_.gpu_streams.for_each([&](format::GpuStreamId, const format::GpuStreamDef& s) { ordinals.insert(s.device); });
  for (const uint32_t ordinal : ordinals) device(ordinal);
  from_.devices.for_each([&](uint32_t ordinal, const DefinedDevice& defined) {
    Device& row = to_.devices[index(device(ordinal))];
    row.name = std::string(defined.def.name);
    row.uuid = std::string(defined.def.uuid);
    for (const auto& [key, value] : defined.properties) row.properties.emplace_back(std::string(key), value);
  });
}

StreamId DeviceImporter::stream(uint32_t device_ordinal, uint32_t context, uint32_t number) {
  const auto [found, added] =
      streams_.try_emplace({device_ordinal, context, number}, static_cast<uint32_t>(to_.streams.size()));
  if (added) {
    Stream row;
    row.device = device(device_ordinal);
    row.context = context;
    row.number = number;
    to_.streams.push_back(row);
  }
  return StreamId{found->second};
}

void DeviceImporter::streams() {
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> in_order;
  from_.gpu_streams.for_each([&](format::GpuStreamId, const format::GpuStreamDef& s) {
    in_order.insert({s.device, s.context, s.stream});
  });
  for (const auto& [device_ordinal, context, number] : in_order) stream(device_ordinal, context, number);
  from_.gpu_streams.for_each([&](format::GpuStreamId id, const format::GpuStreamDef& s) {
    ids_.streams.set(index(id), index(stream(s.device, s.context, s.stream)));
  });
  const bool counters = from_.counter_sets.id_limit() != 0;
  if (counters) {  // known numbers first, then free ones are assigned
    from_.streams.for_each([&](format::StreamId, const format::StreamDef& s) {
      const format::ContextDef* const context = from_.contexts.find(s.context);
      if (context != nullptr && s.gpu_stream != 0) unseen_stream(*context, s.gpu_stream);
    });
  }
  from_.streams.for_each([&](format::StreamId id, const format::StreamDef& s) {
    HostStream row;
    row.process = input_.process;
    row.handle = s.handle;
    row.type = static_cast<uint32_t>(s.type);
    row.flags = s.flags;
    row.priority = s.priority;
    if (const format::ContextDef* const context = from_.contexts.find(s.context)) {
      row.context_handle = context->handle;
      row.device = context->device;
      if (s.gpu_stream != 0 && context->gpu_context != 0) {
        const auto known = streams_.find({row.device, context->gpu_context, s.gpu_stream - 1});
        if (known != streams_.end()) {
          row.stream = known->second;
          to_.streams[row.stream].priority = s.priority;
          to_.streams[row.stream].priority_known = true;
        }
      } else if (counters && s.gpu_stream == 0) {
        row.stream = unseen_stream(*context, 0);
      }
    }
    ids_.host_streams.set(index(id), static_cast<uint32_t>(to_.host_streams.size()));
    to_.host_streams.push_back(row);
  });
  from_.contexts.for_each([&](format::ContextId id, const format::ContextDef& context) {
    HostStream row;
    row.process = input_.process;
    row.context_handle = context.handle;
    row.device = context.device;
    row.whole_context = true;
    ids_.contexts.set(index(id), static_cast<uint32_t>(to_.host_streams.size()));
    to_.host_streams.push_back(row);
  });
}

uint32_t DeviceImporter::unseen_stream(const format::ContextDef& context, uint32_t gpu_stream) {
  if (gpu_stream != 0) return index(stream(context.device, context.gpu_context, gpu_stream - 1));
  uint32_t number = free_number_[{context.device, context.gpu_context}];
  while (streams_.contains({context.device, context.gpu_context, number})) ++number;
  free_number_[{context.device, context.gpu_context}] = number + 1;
  return index(stream(context.device, context.gpu_context, number));
}

}  // namespace prof::analyzer
