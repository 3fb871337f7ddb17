// launch-stats: for each kernel, what did its launches cost, and was the kernel shorter than its launch call?
#include "analyzer/reports/launch_stats.h"

#include "analyzer/analysis/hta_rules.h"
#include "analyzer/base/saturated.h"
#include "analyzer/base/statistics.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

namespace prof::analyzer {

namespace {

// A number for the name of an operation, its API and the group of its stack. Names are created once per group.
struct GroupKey {
  uint64_t operation = 0;
  uint32_t api = 0, stack = 0;
  bool operator==(const GroupKey&) const = default;
};
struct GroupHash {
  size_t operator()(const GroupKey& key) const {
    return std::hash<uint64_t>()((key.operation * 0x9e3779b97f4a7c15u ^ key.stack) * 0x9e3779b97f4a7c15u ^ key.api);
  }
};

}  // namespace

std::vector<LaunchGroup> launch_groups(const AnalysisInput& input, const EventNames& names, LaunchesBy by,
                                       StackGroups& stacks, Estimates* estimates) {
  const Trace& trace = input.trace;
  const KernelNames& kernels = input.views.names();
  std::unordered_map<GroupKey, size_t, GroupHash> by_key;
  std::map<std::tuple<std::string_view, std::string_view, uint32_t>, size_t> by_name;  // kernels can share a name
  std::vector<LaunchGroup> groups;
  std::vector<bool> counted(trace.host.size());
  for_each_launched(input, [&](const GpuOperation& operation, const HostEvent& launch) {
    const GroupKey key{by == LaunchesBy::Kernel ? operation_name_key(kernels, operation) : 0, launch.api(),
                       stacks.of_operation(operation)};
    const auto [found, added] = by_key.try_emplace(key, 0);
    if (added) {
      const std::string_view api = names.text(names.of(launch));
      const std::string_view name =
          by == LaunchesBy::Kernel ? operation_name(kernels, operation, input.options.names) : std::string_view();
      const auto [group, is_new] = by_name.try_emplace({api, name, key.stack}, groups.size());
      if (is_new) {
        LaunchGroup& fresh = groups.emplace_back();
        fresh.api = api;
        fresh.name = name;
        fresh.stack = key.stack;
        fresh.number = static_cast<uint32_t>(group->second);
      }
      found->second = group->second;
    }
    LaunchGroup& group = groups[found->second];
    if (estimates != nullptr) estimates->add(operation, group.number);
    const int64_t api_ns = std::max<int64_t>(0, launch.duration_ns());
    const int64_t gpu_ns = std::max<int64_t>(0, operation.duration_ns());
    const int64_t delay_ns = operation.start_ns - launch.end_ns;
    ++group.operations;
    group.gpu_ns = add_saturated(group.gpu_ns, gpu_ns);
    group.delays_ns.push_back(delay_ns);
    group.negative += delay_ns < 0 ? 1 : 0;
    if (operation.has_kernel()) {
      ++group.kernels;
      if (gpu_ns < kShortKernelNs && gpu_ns < api_ns) {
        ++group.shorts;
        group.short_api_ns = add_saturated(group.short_api_ns, api_ns);
      }
    }
    if (counted[operation.launch]) return;
    counted[operation.launch] = true;
    ++group.launches;
    group.api_ns = add_saturated(group.api_ns, api_ns);
    group.api_max_ns = std::max(group.api_max_ns, api_ns);
  });
  std::sort(groups.begin(), groups.end(), [](const LaunchGroup& a, const LaunchGroup& b) {
    return std::tuple(-a.gpu_ns, a.name, a.api, a.stack) < std::tuple(-b.gpu_ns, b.name, b.api, b.stack);
  });
  return groups;
}

std::string launch_delay_note(const std::vector<LaunchGroup>& groups) {
  std::vector<int64_t> all;
  uint64_t negative = 0;
  for (const LaunchGroup& group : groups) {
    all.insert(all.end(), group.delays_ns.begin(), group.delays_ns.end());
    negative += group.negative;
  }
  if (all.empty()) return "no operation with a known launch";
  const Statistics delays = statistics_of(all);
  return fmt::format(
      "launch delay (GPU start - end of the call) of {} operations: min {}, median {}, max {}, sum {}, below zero {}",
      delays.count, scaled_time(delays.min), scaled_time(whole_ns(delays.median)), scaled_time(delays.max),
      scaled_time(delays.total), negative);
}

namespace {

Table by_kernel(const AnalysisInput& input) {
  StackGroups stacks(input.views, StackGroups::parse_only("launch-stats", input.options.group_by));
  Table table("launch-stats", "Launch, delay and GPU time by kernel");
  table.add_columns({ColumnId::api, ColumnId::launches, ColumnId::api_time, ColumnId::api_avg, ColumnId::operations});
  table.add_columns({ColumnId::delay_min, ColumnId::delay_med, ColumnId::delay_avg, ColumnId::delay_max});
  table.add_columns({ColumnId::delay_negative, ColumnId::gpu_time, ColumnId::gpu_avg});
  Estimates estimates(input, RowsAre::ByWork);
  estimates.add_columns(table);
  table.add_columns({ColumnId::short_, ColumnId::launch_bound_percent, ColumnId::name});
  stacks.add_column(table);
  const EventNames& names = input.views.event_names();
  std::vector<LaunchGroup> groups = launch_groups(input, names, LaunchesBy::Kernel, stacks, &estimates);
  table.notes.push_back(launch_delay_note(groups));
  table.notes.push_back(
      "short: kernels below 10us and shorter than their launch call; launch-bound: their share of the kernels");
  estimates.add_notes(table);
  for (LaunchGroup& group : groups) {
    const Statistics delays = statistics_of(group.delays_ns);
    Table::Row row = table.row();
    row.add(group.api).add(group.launches).add(group.api_ns);
    if (group.launches > 0) {
      row.add(group.api_ns / static_cast<int64_t>(group.launches));
    } else {
      row.empty();
    }
    row.add(group.operations).add(delays.min).add(whole_ns(delays.median)).add(whole_ns(delays.mean)).add(delays.max);
    row.add(group.negative).add(group.gpu_ns).add(group.gpu_ns / static_cast<int64_t>(group.operations));
    estimates.add_cells(row, group.number);
    if (group.kernels > 0) {
      row.add(group.shorts).add(100 * static_cast<double>(group.shorts) / static_cast<double>(group.kernels));
    } else {
      row.empty().empty();
    }
    row.add(group.name);
    stacks.add_cell(row, group.stack);
  }
  return table;
}

// The definitions of Holistic Trace Analysis. The delay is clipped at 0. A kernel is short if it is shorter than its
// launch call. A call above 50 us and a delay above 100 us are outliers. Launches are known by four names: other
// launches are not included.
Table launches_by_hta(const AnalysisInput& input) {
  struct Sum {
    uint32_t number = 0;  // number of its group in the estimates
    uint64_t operations = 0, shorts = 0, slow_calls = 0, late = 0;
    int64_t api_ns = 0, gpu_ns = 0, delay_ns = 0, delay_max_ns = 0;
  };
  Table table("launch-stats", "Launch statistics by the definitions of Holistic Trace Analysis");
  table.add_columns({ColumnId::operations, ColumnId::api_time, ColumnId::gpu_time});
  Estimates estimates(input, RowsAre::ByWork);
  estimates.add_columns(table);
  table.add_columns({ColumnId::delay, ColumnId::delay_max, ColumnId::short_, ColumnId::runtime_outliers,
                     ColumnId::delay_outliers, ColumnId::name});
  table.notes.push_back(
      "delay clipped at 0; short: shorter than its launch call; slow call: above 50us; late start: above 100us");
  std::map<std::string_view, Sum> sums;
  std::map<std::string_view, uint64_t> left_out;  // by call
  const HtaRules rules(input.trace);
  for_each_launched(input, [&](const GpuOperation& operation, const HostEvent& launch) {
    if (!rules.in_launch_statistics(operation)) {
      ++left_out[plain_api_name(input.trace.api_name(launch))];
      return;
    }
    const std::string_view name = operation_name(input.views.names(), operation, input.options.names);
    Sum& sum = sums.try_emplace(name, Sum{static_cast<uint32_t>(sums.size())}).first->second;
    estimates.add(operation, sum.number);
    const int64_t delay_ns = std::max<int64_t>(0, operation.start_ns - launch.end_ns);
    ++sum.operations;
    sum.api_ns = add_saturated(sum.api_ns, launch.duration_ns());
    sum.gpu_ns = add_saturated(sum.gpu_ns, operation.duration_ns());
    sum.delay_ns = add_saturated(sum.delay_ns, delay_ns);
    sum.delay_max_ns = std::max(sum.delay_max_ns, delay_ns);
    sum.shorts += operation.duration_ns() < launch.duration_ns() ? 1 : 0;
    sum.slow_calls += launch.duration_ns() > 50'000 ? 1 : 0;
    sum.late += delay_ns > 100'000 ? 1 : 0;
  });
  if (!left_out.empty()) {
    std::string calls;
    for (const auto& [api, operations] : left_out) {
      calls += fmt::format("{}{} of {}", calls.empty() ? "" : ", ", operations, api.empty() ? "[unknown call]" : api);
    }
    table.notes.push_back("left out, because HTA's launch statistics do not count their launches: " + calls);
  }
  estimates.add_notes(table);
  std::vector<std::pair<std::string_view, Sum>> rows(sums.begin(), sums.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.gpu_ns > b.second.gpu_ns; });
  for (const auto& [name, sum] : rows) {
    Table::Row row = table.row();
    row.add(sum.operations).add(sum.api_ns).add(sum.gpu_ns);
    estimates.add_cells(row, sum.number);
    row.add(sum.delay_ns).add(sum.delay_max_ns);
    row.add(sum.shorts).add(sum.slow_calls).add(sum.late).add(name);
  }
  return table;
}

// The definitions of nsys. A: the call. Q: kernel start − end of the call, if it is not negative. K: the kernel. T:
// from the start of the call to the end of the kernel or of the call, whichever is later. Only kernels, by process,
// thread, device and API.
Table by_nsys(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table("launch-stats", "Launch statistics by the definitions of nsys");
  table.add_columns({ColumnId::nsys_pid, ColumnId::nsys_tid, ColumnId::nsys_dev_id, ColumnId::nsys_count,
                     ColumnId::nsys_queue_count});
  table.add_columns({ColumnId::nsys_t_avg_ns, ColumnId::nsys_t_med_ns, ColumnId::nsys_t_min_ns, ColumnId::nsys_t_max_ns,
                     ColumnId::nsys_t_stddev_ns});
  table.add_columns({ColumnId::nsys_a_avg_ns, ColumnId::nsys_a_med_ns, ColumnId::nsys_a_min_ns, ColumnId::nsys_a_max_ns,
                     ColumnId::nsys_a_stddev_ns});
  table.add_columns({ColumnId::nsys_q_avg_ns, ColumnId::nsys_q_med_ns, ColumnId::nsys_q_min_ns, ColumnId::nsys_q_max_ns,
                     ColumnId::nsys_q_stddev_ns});
  table.add_columns({ColumnId::nsys_k_avg_ns, ColumnId::nsys_k_med_ns, ColumnId::nsys_k_min_ns, ColumnId::nsys_k_max_ns,
                     ColumnId::nsys_k_stddev_ns});
  Estimates estimates(input, RowsAre::ByWork);
  estimates.add_columns(table);
  table.add_columns({ColumnId::nsys_api_name, ColumnId::nsys_kernel_name});
  using Key = std::tuple<uint32_t, uint32_t, std::string_view, std::string_view>;
  struct Group {
    uint32_t number = 0;  // number in the estimates
    std::array<std::vector<int64_t>, 4> times;
  };
  std::map<Key, Group> groups;
  for_each_launched(input, [&](const GpuOperation& operation, const HostEvent& launch) {
    if (!operation.has_kernel()) return;
    const Key key{index(launch.thread), index(trace.stream(operation.stream()).device), trace.api_name(launch),
                  operation_name(input.views.names(), operation, input.options.names)};
    auto& [number, times] = groups.try_emplace(key, Group{static_cast<uint32_t>(groups.size()), {}}).first->second;
    auto& [t, a, q, k] = times;
    estimates.add(operation, number);
    t.push_back(std::max(launch.end_ns, operation.end_ns) - launch.begin_ns);
    a.push_back(launch.duration_ns());
    if (operation.start_ns >= launch.end_ns) q.push_back(operation.start_ns - launch.end_ns);
    k.push_back(operation.duration_ns());
  });
  std::vector<std::pair<int64_t, decltype(groups)::iterator>> order;
  for (auto each = groups.begin(); each != groups.end(); ++each) {
    int64_t total = 0;
    for (const int64_t ns : each->second.times[0]) total = add_saturated(total, -std::max<int64_t>(0, ns));
    order.emplace_back(total, each);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [total, group] : order) {
    const auto& [thread, device, api, name] = group->first;
    Table::Row row = table.row();
    row.add(trace.processes[index(trace.threads[thread].process)].pid).add(trace.threads[thread].tid);
    row.add(trace.devices[device].ordinal).add(group->second.times[0].size()).add(group->second.times[2].size());
    for (std::vector<int64_t>& values : group->second.times) {
      const Statistics all = statistics_of(values);
      if (all.count == 0) {
        row.empty().empty().empty().empty().empty();
      } else {
        row.add(all.mean)
            .add(all.median)
            .add(static_cast<double>(all.min))
            .add(static_cast<double>(all.max))
            .add(all.stddev);
      }
    }
    estimates.add_cells(row, group->second.number);
    row.add(api).add(name);
  }
  estimates.add_notes(table);
  return table;
}

}  // namespace

Table report_launch_stats(const AnalysisInput& input) {
  if (input.options.definitions != Definitions::Ours && !input.options.group_by.empty())
    throw std::runtime_error("--group-by: only launch-stats by prof's own definitions is grouped by stacks");
  switch (input.options.definitions) {
    case Definitions::Hta: return launches_by_hta(input);
    case Definitions::Nsys: return by_nsys(input);
    default: return by_kernel(input);
  }
}

}  // namespace prof::analyzer
