// What a program called its threads, devices, streams and other things, and what its counters counted: records of logs -> rows of
// the model, after every event has its place.
#include "analyzer/model/stages.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

namespace prof::analyzer {

namespace {

void give_name(const LogInput& input, const StagedName& staged, GivenName& given, Trace& trace) {
  const StringId name = staged.gone ? StringId{} : given.name;
  switch (static_cast<format::NamedKind>(staged.what)) {
    case format::NamedKind::Thread:
      for (Thread& thread : trace.threads) {
        if (thread.process == input.process && thread.tid == staged.object && !staged.gone) thread.name = staged.name;
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
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<StagedName> names;
    for (LogTask& task : tasks) {
      if (task.log != i) continue;
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

int64_t stamp_ns(const LogInput& input, format::StampClock clock, uint64_t stamp, int64_t submitted_ns) {
  __extension__ using Wide = __int128;  // a stamp may be anything
  Wide ns = 0;
  switch (clock) {
    case format::StampClock::Tick: ns = Wide{static_cast<int64_t>(input.clock->ns(stamp))} - input.origin_ns; break;
    case format::StampClock::Monotonic: ns = Wide{static_cast<int64_t>(stamp)} - input.origin_ns; break;
    case format::StampClock::Realtime:
      ns = Wide{static_cast<int64_t>(stamp)} - input.clock->realtime_offset_ns() - input.origin_ns;
      break;
    default: return submitted_ns;
  }
  constexpr int64_t kFar = int64_t{1} << 60;  // 36 years
  return ns > kFar || ns < -kFar ? submitted_ns : static_cast<int64_t>(ns);
}

void take_samples(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace) {
  std::map<std::tuple<uint32_t, uint32_t, std::string>, uint32_t> known;  // input, counter of the log, member -> row
  for (LogTask& task : tasks) {
    const LogInput& input = inputs[task.log];
    ClockReader ns{*input.clock};
    for (const StagedSample& sample : task.samples) {
      const format::NvtxCounterDef& def = input.counters[static_cast<format::CounterId>(sample.counter)];
      const auto counter = [&](const std::string& member) {
        const auto [found, added] =
            known.try_emplace({task.log, sample.counter, member}, static_cast<uint32_t>(trace.program_counters.size()));
        if (added) {
          const std::string name = member.empty() ? std::string(def.name) : std::string(def.name) + "." + member;
          trace.program_counters.push_back({input.process, StringId{input.ids.domains.find_or(index(def.domain), 0)},
                                            trace.strings.intern(name), trace.strings.intern(def.unit), 0});
        }
        return found->second;
      };
      const int64_t submitted_ns = ns.tick(sample.tick) - input.origin_ns;
      const int64_t time_ns = stamp_ns(input, sample.clock, sample.stamp, submitted_ns);
      trace.last_ns = std::max(trace.last_ns, time_ns);
      const auto add = [&](const std::string& member, double value) {
        if (!std::isfinite(value)) {
          ++trace.program_counters[counter(member)].without_value;
          return;
        }
        trace.counter_samples.push_back({time_ns, value, counter(member)});
      };
      switch (sample.form) {
        case format::SampleForm::Int64: add("", static_cast<double>(static_cast<int64_t>(sample.value))); break;
        case format::SampleForm::Double: add("", std::bit_cast<double>(sample.value)); break;
        case format::SampleForm::Zero: add("", 0); break;
        case format::SampleForm::Bytes: {
          const auto numbers = decode_numbers(input.schemas, def.schema, def.type, sample.data);
          for (const NamedNumber& number : numbers) add(number.name, number.value);
          if (numbers.empty()) ++trace.processes[index(input.process)].nvtx_payloads_unread;
          break;
        }
        default: ++trace.program_counters[counter("")].without_value;
      }
    }
    task.samples.clear();
  }
  std::stable_sort(trace.counter_samples.begin(), trace.counter_samples.end(),
                   [](const CounterSample& a, const CounterSample& b) {
                     return std::tuple(a.counter, a.time_ns) < std::tuple(b.counter, b.time_ns);
                   });
}

}  // namespace prof::analyzer
