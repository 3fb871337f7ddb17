// categories: which kinds of kernels took the GPU's time? The report prints the tables and closing lines of
// torch.compile's benchmark of a compiled module. It works with any trace.
#include "analyzer/base/saturated.h"
#include "analyzer/reports/kernels.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <map>

namespace prof::analyzer {

namespace {

// The categories of torch.compile's benchmark, which classifies kernels only by the start of their names.
std::string_view reference_category(std::string_view name) {
  if (!name.starts_with("triton_")) return "unknown";
  if (name.starts_with("triton_poi")) return "triton_pointwise";
  if (name.starts_with("triton_red")) return "triton_reduction";
  if (name.starts_with("triton_per")) return "triton_persistent_reduction";
  return "triton_unknown";
}

// What torch.profiler records about a Triton kernel beside the operator that launched it.
struct TritonFacts {
  std::string file;
  int64_t warps = kEmptyCell, stages = kEmptyCell;
};

int64_t number_of(const rapidjson::Document& facts, const char* key) {
  const auto found = facts.FindMember(key);
  if (found == facts.MemberEnd()) return kEmptyCell;
  if (found->value.IsInt64()) return found->value.GetInt64();
  if (!found->value.IsString()) return kEmptyCell;
  const std::string_view text(found->value.GetString(), found->value.GetStringLength());
  int64_t number = 0;
  if (text.empty() || text.size() > 9) return kEmptyCell;
  for (const char c : text) {
    if (c < '0' || c > '9') return kEmptyCell;
    number = number * 10 + (c - '0');
  }
  return number;
}

TritonFacts triton_facts(const AnalysisInput& input, const GpuOperation& kernel) {
  TritonFacts facts;
  if (!kernel.linked() || input.trace.details.empty()) return facts;
  const uint32_t range = input.views.range_of_call()[kernel.launch];
  const OperatorDetail* const detail = range == kNone ? nullptr : input.trace.detail(input.trace.ranges[range]);
  if (detail == nullptr || index(detail->other) == 0) return facts;
  std::string members(input.trace.text(detail->other));
  if (!members.starts_with('{')) members = "{" + members + "}";
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(members.data(), members.size());
  if (document.HasParseError() || !document.IsObject()) return facts;
  if (document.HasMember("kernel_file") && document["kernel_file"].IsString()) {
    const rapidjson::Value& file = document["kernel_file"];
    facts.file.assign(file.GetString(), file.GetStringLength());
  }
  facts.warps = number_of(document, "num_warps");
  facts.stages = number_of(document, "num_stages");
  return facts;
}

struct Category {
  std::string name;
  int64_t total_ns = 0;
  uint64_t count = 0;
  std::vector<const KernelGroup*> kernels;  // longest time first
  std::vector<uint32_t> numbers;            // their group numbers in the estimates
};

std::vector<Category> in_categories(const AnalysisInput& input, const std::vector<KernelGroup>& groups) {
  const bool reference = input.options.definitions == Definitions::Reference;
  std::map<std::string, Category, std::less<>> by_name;
  for (const KernelGroup& group : groups) {
    const GpuOperation& example = input.trace.operations[group.example];
    if (reference && group.kind != GpuKind::Kernel) continue;
    const KernelCategories& all = input.views.categories();
    const std::string name(reference ? reference_category(operation_name(input.views.names(), example, NameForm::Full))
                                     : all.category_names()[all.category_index(example)]);
    Category& category = by_name[name];
    category.name = name;
    category.total_ns = add_saturated(category.total_ns, group.durations.total);
    category.count += group.durations.count;
    category.kernels.push_back(&group);
    category.numbers.push_back(group.number);
  }
  std::vector<Category> categories;
  categories.reserve(by_name.size());
  for (auto& [name, category] : by_name) categories.push_back(std::move(category));
  std::stable_sort(categories.begin(), categories.end(),
                   [](const Category& a, const Category& b) { return a.total_ns > b.total_ns; });
  return categories;
}

void add_share(Table::Row& row, int64_t part_ns, double whole_ns) { row.add_percent(part_ns, whole_ns); }

}  // namespace

Table report_categories(const AnalysisInput& input) {
  const std::vector<Window> windows = report_windows(input);
  Estimates estimates(input, RowsAre::ByWork);
  const std::vector<KernelGroup> groups = kernel_groups(input, windows, {}, &estimates);
  const DeviceTime busy = device_time(input, windows);
  const double wall_ns = input.options.wall_ms > 0 ? input.options.wall_ms * 1e6 : static_cast<double>(busy.window_ns);
  const double whole_ns = wall_ns * static_cast<double>(busy.devices);

  Table table("categories", "Kernels by category");
  table.add_columns({ColumnId::category, ColumnId::self_gpu_time, ColumnId::count, ColumnId::percent});
  estimates.add_columns(table);
  table.add_columns({ColumnId::num_warps, ColumnId::num_stages, ColumnId::kernel, ColumnId::kernel_file});
  int64_t sum_ns = 0;
  for (const Category& category : in_categories(input, groups)) {
    sum_ns = add_saturated(sum_ns, category.total_ns);
    for (const KernelGroup* group : category.kernels) {
      const GpuOperation& example = input.trace.operations[group->example];
      const TritonFacts facts = triton_facts(input, example);
      Table::Row row = table.row();
      row.add(std::string_view(category.name)).add(group->durations.total).add(group->durations.count);
      add_share(row, group->durations.total, whole_ns);
      estimates.add_cells(row, group->number);
      row.add(facts.warps).add(facts.stages);
      row.add(operation_name(input.views.names(), example, input.options.names));
      if (!facts.file.empty()) row.add(std::string_view(facts.file));
    }
    Table::Row row = table.row();
    row.add(std::string_view(category.name)).add(category.total_ns).add(category.count);
    add_share(row, category.total_ns, whole_ns);
    estimates.add_cells(row, estimates.of(category.numbers));
    row.empty().empty().add(std::string_view("Total"));
  }

  for (const Window& window : windows) {
    if (windows.size() <= 20) table.notes.push_back(window_note(window));
  }
  const bool reference = input.options.definitions == Definitions::Reference;
  table.notes.push_back(fmt::format("percent: sum of durations of the {} wall time{}",
                                    input.options.wall_ms > 0 ? "given" : "window's",
                                    busy.devices > 1 ? fmt::format(", times {} devices", busy.devices) : ""));
  estimates.add_notes(table);
  if (reference) table.notes.emplace_back("definitions: torch.compile's benchmark: kernels only, busy is their sum");
  if (whole_ns > 0) {
    const double percent = 100 * static_cast<double>(reference ? sum_ns : busy.busy_ns) / whole_ns;
    table.footers.push_back(fmt::format("Percent of time when GPU is busy: {:.2f}%", percent));
    table.footers.push_back(fmt::format("Total wall time {:.3f} ms", wall_ns / 1e6));
  }
  return table;
}

}  // namespace prof::analyzer
