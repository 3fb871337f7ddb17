// The tables about the host: calls, ranges, samples.
#include "analyzer/analysis/gpu_order.h"
#include "analyzer/analysis/idle/host_code_times.h"
#include "analyzer/analysis/range_state.h"
#include "analyzer/model/memory_key.h"
#include "analyzer/output/dataset/process_rows.h"

#include <algorithm>
#include <cmath>

namespace prof::analyzer::dataset {

namespace {

constexpr std::string_view kCallKinds[] = {"kernel launch", "copy or memset", "graph launch", "other", "allocation"};
constexpr std::string_view kRangeKinds[] = {"nvtx", "operator", "annotation", "python", "overhead"};
constexpr std::string_view kRangeStyles[] = {"push/pop", "start/end", "mark"};

enum class SampleKind : uint8_t { Host, Hardware, Nvtx };
constexpr std::string_view kSampleKinds[] = {"host", "hardware", "nvtx"};

struct SampleRef {
  int64_t time_ns = 0;
  SampleKind kind{};
  uint32_t set = 0, metric = 0;  // hardware samples
  size_t row = 0;
};

}  // namespace

void ProcessRows::calls() {
  namespace column = dataset::calls;
  TableBatch& batch = shared_.target.batch(TableId::calls);
  Shared::Cache& cache = shared_.cache;
  const Column<PathId>& paths = shared_.views.path_of_call();
  const bool any_stack = shared_.stacks.any();
  std::vector<Rows> groups;
  for (const uint32_t thread : threads_) groups.push_back(trace_.threads[thread].host);
  const auto begin = [&](uint32_t row) { return trace_.host[row].begin_ns; };
  merge_rows(groups, begin, [&](uint32_t row) {
    const HostEvent& call = trace_.host[row];
    batch[column::call_id].add(row);
    batch[column::tid].add(trace_.thread(call.thread).tid);
    batch[column::name].add_cached(cache.call_name, call.api(), [&] {
      return call.api() == 0 ? std::string_view("[unknown call]") : trace_.api_name(call);
    });
    const auto kind = static_cast<size_t>(call.kind());
    batch[column::kind].add_cached(cache.call_kind, kind, [&] { return kCallKinds[kind]; });
    batch[column::start_ns].add(time(call.begin_ns));
    batch[column::duration_ns].add(call.duration_ns());
    batch[column::result].add(call.result());
    batch[column::correlation].add_if(call.correlation != 0, call.correlation);
    const bool has_bytes = call.kind() == HostKind::MemoryLaunch || call.kind() == HostKind::Allocation;
    batch[column::bytes].add_if(has_bytes, asked_bytes(call));
    batch[column::has_operation].add(call.has(kHostHasGpu));
    batch[column::captured].add(call.has(kHostCaptured));
    batch[column::unfinished].add(call.has(kHostUnfinished));
    const PathId path = paths[row];
    batch[column::range_path].add_cached(cache.call_path, index(path), [&] { return path_text(trace_, path); });
    batch[column::stack_id].add(any_stack ? stack_id(shared_.stacks.of_call(row)) : std::nullopt);
    end_row(batch);
  });
  end_table(batch);
  if (!wants(TableId::calls)) batch.clear();
}

void ProcessRows::ranges() {
  namespace column = dataset::ranges;
  TableBatch& batch = shared_.target.batch(TableId::ranges);
  Shared::Cache& cache = shared_.cache;
  // Marks are another table of the model. Here their rows follow those of ranges.
  const auto first_mark = static_cast<uint32_t>(trace_.ranges.size());
  const auto at = [&](uint32_t row) -> const Range& {
    return row < first_mark ? trace_.ranges[row] : trace_.marks[row - first_mark];
  };
  std::vector<Rows> groups = {trace_.processes[index(process_)].start_end_ranges};
  for (const uint32_t thread : threads_) {
    const Rows marks = trace_.threads[thread].marks;
    groups.push_back(trace_.threads[thread].ranges);
    groups.push_back({marks.first + first_mark, marks.last + first_mark});
  }
  const auto begin = [&](uint32_t row) { return at(row).begin_ns; };
  merge_rows(groups, begin, [&](uint32_t row) {
    const Range& range = at(row);
    const Label& label = trace_.labels[index(range.label)];
    batch[column::range_id].add_if(row < first_mark, row);
    batch[column::parent_id].add_if(range.parent != kNone, range.parent);
    batch[column::tid].add(trace_.thread(range.thread).tid);
    const auto kind = static_cast<size_t>(range.kind), style = static_cast<size_t>(range.style);
    batch[column::kind].add_cached(cache.range_kind, kind, [&] { return kRangeKinds[kind]; });
    batch[column::style].add_cached(cache.range_style, style, [&] { return kRangeStyles[style]; });
    const size_t of_label = index(range.label);
    batch[column::domain].add_cached(cache.range_domain, of_label, [&] { return trace_.text(label.domain); });
    batch[column::category].add_cached(cache.range_category, of_label, [&] { return category_text(trace_, label); });
    batch[column::name].add_cached(cache.range_name, of_label, [&] { return trace_.text(label.text); });
    batch[column::start_ns].add(time(range.begin_ns));
    batch[column::duration_ns].add(range.end_ns - range.begin_ns);
    batch[column::level].add(uint32_t{range.level});
    batch[column::unfinished].add(static_cast<bool>(range.unfinished));
    batch[column::path].add_cached(cache.range_path, index(range.path), [&] { return path_text(trace_, range.path); });
    batch[column::payload].add_text(payload_text(trace_, range));
    end_row(batch);
  });
  end_table(batch);
}

void ProcessRows::samples() {
  namespace column = dataset::samples;
  std::vector<SampleRef> refs;
  const HostSamples& host = trace_.host_sampling.samples;
  for (size_t row = 0; row < host.size(); ++row) {
    if (trace_.thread(host.thread[row]).process == process_)
      refs.push_back({host.time_ns[row], SampleKind::Host, 0, 0, row});
  }
  for (uint32_t s = 0; s < trace_.samples.sets.size(); ++s) {
    const SampledSet& set = trace_.samples.sets[s];
    if (trace_.device(set.device).process != process_) continue;
    for (size_t row = set.first; row < set.last; ++row) {
      for (uint32_t m = 0; m < set.metrics.size(); ++m)
        refs.push_back({trace_.samples.rows[row].begin_ns, SampleKind::Hardware, s, m, row});
    }
  }
  for (size_t row = 0; row < trace_.counter_samples.size(); ++row) {
    const CounterSample& sample = trace_.counter_samples[row];
    if (trace_.program_counters[sample.counter].process == process_)
      refs.push_back({sample.time_ns, SampleKind::Nvtx, 0, 0, row});
  }
  if (refs.empty()) return;
  std::stable_sort(refs.begin(), refs.end(),
                   [](const SampleRef& a, const SampleRef& b) { return a.time_ns < b.time_ns; });

  TableBatch& batch = shared_.target.batch(TableId::samples);
  for (const SampleRef& ref : refs) {
    const auto kind = static_cast<size_t>(ref.kind);
    const bool is_host = ref.kind == SampleKind::Host;
    std::optional<double> value;
    std::optional<int64_t> duration_ns, stack;
    std::optional<uint32_t> device, tid;
    std::string_view name, unit;
    std::string state;
    switch (ref.kind) {
      case SampleKind::Host: {
        const HostCode code{host.stack[ref.row], host.detail[ref.row], host.state[ref.row], host.blocked_in[ref.row]};
        tid = trace_.thread(host.thread[ref.row]).tid;
        state = host_state_text(trace_, code);
        stack = stack_id(code.stack);
        break;
      }
      case SampleKind::Hardware: {
        const SampledSet& set = trace_.samples.sets[ref.set];
        const SampleRow& row = trace_.samples.rows[ref.row];
        value = trace_.samples.values_of(ref.set, ref.row)[ref.metric];
        duration_ns = row.end_ns - row.begin_ns;
        device = trace_.device(set.device).ordinal;
        name = trace_.text(set.metrics[ref.metric]);
        break;
      }
      case SampleKind::Nvtx: {
        const CounterSample& sample = trace_.counter_samples[ref.row];
        const ProgramCounter& counter = trace_.program_counters[sample.counter];
        value = sample.value;
        name = trace_.text(counter.name);
        unit = trace_.text(counter.unit);
        break;
      }
    }
    batch[column::kind].add_cached(shared_.cache.sample_kind, kind, [&] { return kSampleKinds[kind]; });
    batch[column::time_ns].add(time(ref.time_ns));
    batch[column::duration_ns].add(duration_ns);
    batch[column::name].add_text(name);
    batch[column::value].add_if(value && !std::isnan(*value), value.value_or(0));
    batch[column::unit].add_text(unit);
    batch[column::device].add(device);
    batch[column::tid].add(tid);
    batch[column::state].add_text(is_host ? state : std::string());
    batch[column::stack_id].add(stack);
    end_row(batch);
  }
  end_table(batch);
  if (!wants(TableId::samples)) batch.clear();
}

}  // namespace prof::analyzer::dataset
