// How do NVTX samples of logs become rows of the model? A step of the builder after every event has its place. First
// each number as recorded; then, by counter and time, what depends on the previous sample.
#include "analyzer/input/log/build/stages.h"
#include "preload/format/nvtx_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace prof::analyzer {

namespace {

using format::SampleForm;

// A sample whose predecessor is not known yet.
struct SampledValue {
  int64_t time_ns = 0;
  double value = 0;
  uint32_t counter = 0;                  // index into Trace::program_counters
  SampleForm form = SampleForm::Double;  // Double: there is a value
};

class Sampler {
 public:
  Sampler(const std::vector<LogInput>& inputs, Trace& trace) : inputs_(inputs), trace_(trace), paths_(trace) {}

  void take(LogTask& task) {
    const LogInput& input = inputs_[task.log];
    ClockReader ns{*input.clock};
    for (const StagedSample& sample : task.samples) {
      const int64_t submitted_ns = ns.tick(sample.tick) - input.origin_ns;
      int64_t time_ns = submitted_ns;
      if (sample.clock != format::StampClock::None) {
        const std::optional<int64_t> stamped_ns = stamp_ns(input, sample.clock, sample.stamp);
        if (!stamped_ns && sample.clock != format::StampClock::Unknown)  // the recorder counts those
          ++trace_.processes[index(input.process)].nvtx_times_unknown;
        time_ns = stamped_ns.value_or(submitted_ns);
      }
      trace_.last_ns = std::max(trace_.last_ns, time_ns);
      add(task.log, sample, time_ns);
    }
    task.samples.clear();
  }

  void finish() {
    const size_t most = values_.size() + kMaxRepeated;
    std::map<Counter, uint64_t> without;
    for (const Missing& missing : missing_) {
      std::vector<uint32_t>& rows = rows_of_[missing.of];
      if (rows.empty()) row(missing.of, nullptr, "", missing.of.scope);
      if (missing.form == SampleForm::Unavailable || values_.size() + rows.size() > most) {
        ++without[missing.of];
        continue;
      }
      for (const uint32_t each : rows) values_.push_back({missing.time_ns, 0, each, missing.form});
    }
    for (const auto& [of, count] : without) {
      for (const uint32_t each : rows_of_[of]) trace_.program_counters[each].without_value += count;
    }
    std::stable_sort(values_.begin(), values_.end(), [](const SampledValue& a, const SampledValue& b) {
      return std::tuple(a.counter, a.time_ns) < std::tuple(b.counter, b.time_ns);
    });
    std::optional<double> before;
    for (size_t i = 0; i < values_.size(); ++i) {
      const SampledValue& sampled = values_[i];
      if (i != 0 && values_[i - 1].counter != sampled.counter) before.reset();
      ProgramCounter& counter = trace_.program_counters[sampled.counter];
      const bool delta = (counter.flags & kCounterValueMask) == kCounterDelta;
      std::optional<double> value;
      if (sampled.form == SampleForm::Unchanged) {
        value = before;
      } else {
        const double number = sampled.form == SampleForm::Zero ? 0 : sampled.value;
        value = delta ? before.value_or(0) + number : number;
      }
      if (!value || !std::isfinite(*value)) {
        ++counter.without_value;
        continue;
      }
      before = value;
      trace_.counter_samples.push_back({sampled.time_ns, *value, sampled.counter});
    }
  }

 private:
  // A counter of a log in the scope for which it was registered.
  struct Counter {
    uint32_t log = 0, counter = 0;
    StringId scope{};
    bool operator<(const Counter& than) const {
      return std::tuple(log, counter, scope) < std::tuple(than.log, than.counter, than.scope);
    }
  };

  // A sample without a value does not name its numbers or its scope. It counts for every row that samples of its
  // counter created, up to this number of additional rows.
  static constexpr size_t kMaxRepeated = size_t{1} << 22;
  struct Missing {
    Counter of;
    int64_t time_ns = 0;
    SampleForm form{};
  };

  void add(uint32_t log, const StagedSample& sample, int64_t time_ns) {
    const LogInput& input = inputs_[log];
    const format::NvtxCounterDef& def = input.counters[static_cast<format::NvtxCounterId>(sample.counter)];
    const ThreadId thread{sample.thread};
    const StringId scope = paths_.of(input.scopes, input.process, def.domain, def.scope, thread);
    const Counter of{log, sample.counter, scope};
    const auto one = [&](double number) {
      const format::NvtxSemanticsDef semantics = input.semantics.of(def, nullptr);
      values_.push_back({time_ns, counter_number(semantics, def.type, number), row(of, nullptr, "", scope)});
    };
    switch (sample.form) {
      case SampleForm::Int64: return one(static_cast<double>(static_cast<int64_t>(sample.value)));
      case SampleForm::Double: return one(std::bit_cast<double>(sample.value));
      case SampleForm::Bytes: break;
      default: missing_.push_back({of, time_ns, sample.form}); return;
    }
    const DecodedSample decoded = decode_sample(input.schemas, def.schema, def.type, sample.data);
    if (decoded.numbers.empty()) ++trace_.processes[index(input.process)].nvtx_payloads_unread;
    StringId of_sample = scope;
    if (const StringId told = paths_.of(input.scopes, input.process, def.domain, decoded.scope, thread);
        told != StringId{})
      of_sample = told;
    if (!decoded.holder.empty()) of_sample = trace_.strings.intern(decoded.holder);
    for (const NamedNumber& number : decoded.numbers) {
      const StringId of_number =
          number.scope != 0 ? paths_.of(input.scopes, input.process, def.domain, number.scope, thread) : of_sample;
      const format::NvtxSemanticsDef semantics = input.semantics.of(def, number.entry);
      const uint64_t type = number.entry != nullptr ? number.entry->type : def.type;
      values_.push_back(
          {time_ns, counter_number(semantics, type, number.value), row(of, number.entry, number.name, of_number)});
    }
  }

  uint32_t row(const Counter& of, const format::NvtxSchemaEntry* entry, const std::string& member, StringId scope) {
    const auto next = static_cast<uint32_t>(trace_.program_counters.size());
    const auto [found, added] = known_.try_emplace({of, member, scope}, next);
    if (!added) return found->second;
    const LogInput& input = inputs_[of.log];
    const format::NvtxCounterDef& def = input.counters[static_cast<format::NvtxCounterId>(of.counter)];
    const format::NvtxSemanticsDef semantics = input.semantics.of(def, entry);
    const CounterLimits limits = counter_limits(semantics);
    const std::string name = member.empty() ? std::string(def.name) : fmt::format("{}.{}", def.name, member);
    ProgramCounter& row = trace_.program_counters.emplace_back();
    row.process = input.process;
    row.domain = StringId{input.ids.domains.find_or(index(def.domain), 0)};
    row.name = trace_.strings.intern(name);
    row.unit = trace_.strings.intern(semantics.unit);
    row.scope = scope;
    row.flags = semantics.flags;
    row.min = limits.min;
    row.max = limits.max;
    rows_of_[of].push_back(next);
    return next;
  }

  const std::vector<LogInput>& inputs_;
  Trace& trace_;
  ScopePaths paths_;
  std::map<std::tuple<Counter, std::string, StringId>, uint32_t> known_;  // member, its scope -> row
  std::map<Counter, std::vector<uint32_t>> rows_of_;
  std::vector<SampledValue> values_;
  std::vector<Missing> missing_;
};

}  // namespace

void take_samples(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace) {
  Sampler sampler(inputs, trace);
  for (LogTask& task : tasks) sampler.take(task);
  sampler.finish();
}

}  // namespace prof::analyzer
