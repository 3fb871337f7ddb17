// Which names did a program give to its threads, devices, streams and other objects? Records of logs become rows of the
// model after every event has its place.
#include "analyzer/input/log/build/stages.h"

#include <algorithm>
#include <iterator>

namespace prof::analyzer {

namespace {

void give_name(const LogInput& input, const StagedName& staged, GivenName& given, Trace& trace) {
  const StringId name = staged.gone ? StringId{} : given.name;
  switch (static_cast<format::NamedKind>(staged.what)) {
    case format::NamedKind::Thread:
      for (uint32_t t = input.ids.first_thread; t < input.ids.last_thread; ++t) {
        if (trace.threads[t].tid == staged.object && !staged.gone) trace.threads[t].name = staged.name;
      }
      break;
    case format::NamedKind::Device:
      for (Device& device : trace.devices) {
        if (device.process == input.process && device.ordinal == staged.object) device.given_name = name;
      }
      break;
    case format::NamedKind::Stream: {
      const uint32_t row =
          staged.object <= UINT32_MAX ? input.ids.host_streams.find(static_cast<uint32_t>(staged.object)) : kNone;
      if (row == kNone) break;
      HostStream& stream = trace.host_streams[row];
      stream.name = name;
      given.object = stream.handle;
      if (stream.stream != kNone) trace.streams[stream.stream].name = name;
      break;
    }
    default: break;
  }
}

}  // namespace

void take_names(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace) {
  const std::vector<std::vector<uint32_t>> of_log = tasks_by_log(inputs.size(), tasks);
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<StagedName> names;
    for (const uint32_t t : of_log[i]) {
      LogTask& task = tasks[t];
      std::move(task.names.begin(), task.names.end(), std::back_inserter(names));
      task.names.clear();
    }
    std::stable_sort(names.begin(), names.end(),
                     [](const StagedName& a, const StagedName& b) { return a.tick < b.tick; });
    ClockReader ns{*inputs[i].clock};
    for (const StagedName& staged : names) {
      GivenName given;
      given.process = inputs[i].process;
      given.time_ns = ns.tick(staged.tick) - inputs[i].origin_ns;
      given.what = staged.what;
      given.object = staged.object;
      given.type = staged.type;
      given.gone = staged.gone;
      given.domain = StringId{staged.domain};
      given.name = trace.strings.intern(staged.name);
      give_name(inputs[i], staged, given, trace);
      trace.given_names.push_back(given);
    }
  }
}

}  // namespace prof::analyzer
