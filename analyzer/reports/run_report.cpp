#include "analyzer/reports/run_report.h"

#include "analyzer/model/process_names.h"
#include "analyzer/reports/gpu_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr std::string_view kRank = "rank", kHost = "host", kProcess = "process", kDevice = "device";

bool is_owner_word(std::string_view word) {
  return word == kRank || word == kHost || word == kProcess || word == kDevice;
}

RowOwner owner_of(const Process& process) { return {process.rank, process.host, process.pid}; }

std::shared_ptr<const std::vector<RowOwner>> owners_of(const Trace& trace) {
  auto owners = std::make_shared<std::vector<RowOwner>>();
  for (const Process& process : trace.processes) owners->push_back(owner_of(process));
  return owners;
}

OwnerColumns owner_columns(const Trace& trace, OwnersShown shown) {
  if (shown == OwnersShown::Always) return {};
  const auto any = [&](auto has) { return std::any_of(trace.processes.begin(), trace.processes.end(), has); };
  const bool several = has_several_processes(trace);
  return {several && any([](const Process& process) { return process.rank.has_value(); }),
          several && any([](const Process& process) { return !process.host.empty(); })};
}

void check_columns(const Report& report, const Table& table) {
  for (const TableColumn& column : table.columns()) {
    if (std::find(report.columns.begin(), report.columns.end(), column.id) == report.columns.end())
      throw std::logic_error(fmt::format("reports.def: {} has no column {}", report.name, column.key));
  }
}

// The processes, and with --group-by device the GPU, whose rows are made together.
struct Group {
  std::string name;  // in notes
  RowOwner owner;
  std::optional<uint32_t> device = std::nullopt;  // ordinal
  std::vector<bool> processes = {};               // by ProcessId
};

// Members in which the processes differ have no value.
void join(RowOwner& owner, const RowOwner& other) {
  if (owner.rank != other.rank) owner.rank = std::nullopt;
  if (owner.host != other.host) owner.host.clear();
  if (owner.pid != other.pid) owner.pid = std::nullopt;
}

// The groups in order of rank, host and process id; processes without a rank follow those with one.
std::vector<Group> find_groups(const AnalysisInput& input, const std::vector<std::string>& words) {
  const auto given = [&](std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  const Trace& trace = input.trace;
  const std::vector<std::string> names = process_names(trace);
  // Processes of equal keys are one group. All processes of one rank are on one host.
  using Key = std::tuple<uint32_t, std::string, uint32_t, std::string, uint32_t>;
  std::map<Key, Group> groups;
  const auto add = [&](uint32_t p, std::optional<uint32_t> device) {
    const Process& process = trace.processes[p];
    const bool each = given(kProcess) || given(kDevice);
    const bool by_rank = given(kRank) || each, by_host = given(kHost) || each;
    const uint32_t rank = by_rank && process.rank ? *process.rank : kNone;
    // A process without a rank, or on an unknown host, is not known to belong to others.
    const bool alone = each || (by_rank && !process.rank) || (by_host && process.host.empty());
    const Key key{rank, by_host || by_rank ? process.host : std::string(), alone ? process.pid : 0,
                  alone && process.host.empty() ? process.source : std::string(), device.value_or(kNone)};
    std::string name = each || alone ? names[p]
                       : !by_rank    ? fmt::format("host {}", process.host)
                       : by_host     ? fmt::format("rank {} on {}", rank, process.host)
                                     : fmt::format("rank {}", rank);
    if (device) name += fmt::format(" GPU {}", *device);
    const auto [found, is_new] = groups.try_emplace(
        key, Group{std::move(name), owner_of(process), device, std::vector<bool>(trace.processes.size())});
    if (!is_new) join(found->second.owner, owner_of(process));
    found->second.processes[p] = true;
  };
  for (uint32_t p = 0; p < trace.processes.size(); ++p) {
    if (!input.selection.has_process(ProcessId{p})) continue;
    if (!given(kDevice)) {
      add(p, std::nullopt);
      continue;
    }
    for (const Device& device : trace.devices) {
      const std::vector<uint32_t>& wanted = input.selection.devices;
      const bool selected = wanted.empty() || std::find(wanted.begin(), wanted.end(), device.ordinal) != wanted.end();
      if (index(device.process) == p && selected) add(p, device.ordinal);
    }
  }
  std::vector<Group> list;
  std::map<std::string, uint32_t> uses;
  for (const auto& [key, group] : groups) ++uses[group.name];
  for (auto& [key, group] : groups) {
    // One rank that processes of several hosts claim.
    if (uses[group.name] > 1 && !group.owner.host.empty()) group.name += " on " + group.owner.host;
    list.push_back(std::move(group));
  }
  return list;
}

// Adds lines that belong to one group: a line that every group has is there once, others name their group.
class GroupLines {
 public:
  void add(const Group& group, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      std::vector<std::string>& groups = groups_[line];
      if (groups.empty()) order_.push_back(line);
      groups.push_back(group.name);
    }
  }
  void put(size_t all, std::vector<std::string>& into) const {
    constexpr size_t kMost = 20;
    size_t shown = 0, more = 0;
    for (const std::string& line : order_) {
      const std::vector<std::string>& groups = groups_.at(line);
      if (groups.size() == all) {
        into.push_back(line);
      } else if (shown++ < kMost) {
        into.push_back(fmt::format("{}{}: {}", groups.front(),
                                   groups.size() == 1 ? "" : fmt::format(" and {} more", groups.size() - 1), line));
      } else {
        ++more;
      }
    }
    if (more != 0)
      into.push_back(fmt::format("{} more such lines of single groups; --rank or --process show them", more));
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::vector<std::string>> groups_;
};

Table run_groups(const Report& report, const AnalysisInput& input, const std::vector<std::string>& words,
                 OwnersShown shown) {
  const auto owners = owners_of(input.trace);
  OwnerColumns columns = owner_columns(input.trace, shown);
  const std::vector<Group> groups = find_groups(input, words);
  // A column that every group leaves empty is for programs only.
  const auto any = [&](auto has) { return std::any_of(groups.begin(), groups.end(), has); };
  if (shown == OwnersShown::WhenSeveral) {
    columns.rank = columns.rank && any([](const Group& group) { return group.owner.rank.has_value(); });
    columns.host = columns.host && any([](const Group& group) { return !group.owner.host.empty(); });
  }
  std::optional<Table> all;
  GroupLines notes, footers;
  size_t text_limit = 0;
  for (const Group& group : groups) {
    Selection selection = input.selection;
    selection.processes = group.processes;
    if (group.device) selection.devices = {*group.device};
    Table table = run_timed_report(report, {input.trace, input.views, selection, input.options});
    table.store();
    notes.add(group, table.notes);
    footers.add(group, table.footers);
    text_limit = table.text_limit;
    if (text_limit != 0 && shown == OwnersShown::WhenSeveral) table.limit(text_limit);
    table.name_owners(owners, columns, &group.owner);
    if (group.device && !table.has_column(ColumnId::device) && !table.has_column(ColumnId::device_name) &&
        !table.has_column(ColumnId::devices)) {
      size_t at = 0;
      while (table.columns()[at].id != ColumnId::pid) ++at;
      table.insert_column(at + 1, ColumnId::device, *group.device);
    }
    if (!all) {
      all.emplace(std::move(table));
      continue;
    }
    all->append(table);
  }
  if (!all) {
    all.emplace(run_timed_report(report, input));
    all->store();
    all->name_owners(owners, columns);
    return std::move(*all);
  }
  all->notes = {fmt::format("rows by {}: each group as if it alone were selected", fmt::join(words, " and "))};
  notes.put(groups.size(), all->notes);
  all->footers.clear();
  footers.put(groups.size(), all->footers);
  all->text_form = nullptr;
  all->text_limit = 0;
  if (text_limit != 0 && shown == OwnersShown::WhenSeveral)
    all->notes.push_back(fmt::format("first {} rows of each group; other formats have all", text_limit));
  return std::move(*all);
}

// Whether rows of the table may be about several processes without naming them.
bool joins_processes(const Report& report, const AnalysisInput& input, const Table& table) {
  if (report.options.find(PROF_OWNERS) == std::string_view::npos || table.has_column(ColumnId::pid)) return false;
  const Process* first = nullptr;
  for (uint32_t p = 0; p < input.trace.processes.size(); ++p) {
    const Process& process = input.trace.processes[p];
    if (!input.selection.has_process(ProcessId{p})) continue;
    if (first == nullptr) first = &process;
    if (!is_same_process(*first, process)) return true;
  }
  return false;
}

// The source of ranks that the recording does not have.
void note_ranks(const Trace& trace, Table& table) {
  if (!table.has_column(ColumnId::rank) || table.columns().empty()) return;
  const auto count = [&](RankFrom from) {
    return std::count_if(trace.processes.begin(), trace.processes.end(),
                         [&](const Process& process) { return process.rank_from == from; });
  };
  if (const auto names = count(RankFrom::FileName); names != 0)
    table.notes.push_back(fmt::format("ranks from the names of files, because the recording has none: {} of {}", names,
                                      trace.processes.size()));
  if (const auto communicators = count(RankFrom::Communicator); communicators != 0)
    table.notes.push_back(
        fmt::format("ranks from NCCL's communicators: {} of {}", communicators, trace.processes.size()));
}

}  // namespace

std::vector<OwnerGroup> owner_groups(const AnalysisInput& input, const std::vector<std::string>& words) {
  std::vector<OwnerGroup> groups;
  for (Group& group : find_groups(input, words)) groups.push_back({std::move(group.name), std::move(group.processes)});
  return groups;
}

bool groups_by_owner(const ReportOptions& options) {
  return std::any_of(options.group_by.begin(), options.group_by.end(), is_owner_word);
}

void name_owners(const Trace& trace, OwnersShown shown, Table& table) {
  table.name_owners(owners_of(trace), owner_columns(trace, shown));
  note_ranks(trace, table);
}

Table run_report(const Report& report, const AnalysisInput& input, OwnersShown shown) {
  check_gpu_times(report, input.trace, input.selection, input.options);
  if (!groups_by_owner(input.options)) {
    Table table = run_timed_report(report, input);
    name_owners(input.trace, shown, table);
    if (joins_processes(report, input, table))
      table.notes.push_back("rows join several processes; --group-by rank, host or process gives each rows of its own");
    check_columns(report, table);
    return table;
  }
  ReportOptions options = input.options;
  std::vector<std::string> words;
  std::erase_if(options.group_by, [&](const std::string& word) {
    if (is_owner_word(word)) words.push_back(word);
    return is_owner_word(word);
  });
  Table table = run_groups(report, {input.trace, input.views, input.selection, options}, words, shown);
  note_ranks(input.trace, table);
  check_columns(report, table);
  return table;
}

}  // namespace prof::analyzer
