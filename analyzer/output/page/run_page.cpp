#include "analyzer/output/page/run_page.h"

#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/analysis/idle/host_code_times.h"
#include "analyzer/analysis/idle/piece_names.h"
#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/analysis/stacks/stack_tree.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/model/process_names.h"
#include "analyzer/output/page/page_texts.h"
#include "analyzer/output/page/rank_page.h"
#include "analyzer/output/page/timeline_pieces.h"
#include "analyzer/output/page/timeline_rows.h"
#include "analyzer/reports/gpu_times.h"
#include "analyzer/reports/ranks/ranks.h"
#include "analyzer/reports/roofline.h"
#include "analyzer/reports/run_report.h"
#include "analyzer/table/html_text.h"
#include "analyzer/table/table_pages.h"

#include "page_files.inc"  // kPageHtml, kPageStyle, kPageScript: CMake makes it of the files here

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <unordered_map>

namespace prof::analyzer {

namespace {

// How large may a page be? 2 MB for 100,000 GPU operations, 20 MB for ten million.
struct PageLimits {
  explicit PageLimits(size_t operations)
      : bytes(std::clamp(10 * operations, size_t{1'950'000}, size_t{19'200'000}) - kShellBytes) {}
  static constexpr size_t kShellBytes = sizeof kPageHtml + sizeof kPageStyle + sizeof kPageScript;
  size_t bytes;
  size_t timeline() const { return bytes / 100 * 62; }  // with its names
  size_t rows() const { return bytes / 1900; }          // of a table
  size_t nodes() const { return bytes / 380; }          // of the flame graph
  size_t points() const { return bytes / 3800; }        // of the roofline
};

// A JSON list that is filled part by part.
class List {
 public:
  List& add(std::string_view json) {
    if (text_.size() > 1) text_ += ',';
    text_ += json;
    return *this;
  }
  List& number(int64_t value) { return add(fmt::format_int(value).str()); }
  List& real(double value) { return add(std::isfinite(value) ? fmt::format("{}", value) : "null"); }
  std::string json() const { return text_ + "]"; }

 private:
  std::string text_ = "[";
};

class PageData {
 public:
  PageData(const AnalysisInput& input, const RunPageOptions& options)
      : input_(input), trace_(input.trace), options_(options), limits_(input.trace.operations.size()) {
    if (options.redact) hide();
  }

  void write(Sink& sink) {
    whole_times_ = true;
    try {
      need_all_times("idle", trace_, input_.selection);
    } catch (const std::runtime_error&) {
      whole_times_ = false;
    }
    if (whole_times_ && has_several_processes(trace_)) {
      ranks_ = job_of(input_);
      input_.views.derived<JobOfLogs>().job = ranks_;
    }
    const std::string timeline = timeline_that_fits();
    const std::string parts[] = {facts(), timeline, tables(), roofline_json(), flame_json(), ranks_json()};
    List messages;
    for (const std::string& message : options_.messages) messages.number(text(message));
    const uint32_t coverage = text(coverage_line(trace_));
    size_t used = 0;
    for (const std::string& part : parts) used += part.size();
    const std::string all = texts_->json(std::max(limits_.bytes / 10, limits_.bytes - std::min(limits_.bytes, used)));
    sink.write("{\"version\":1,\n\"facts\":" + parts[0] + ",\n\"timeline\":" + parts[1] + ",\n\"tables\":" + parts[2]);
    sink.write(",\n\"roofline\":" + parts[3] + ",\n\"flame\":" + parts[4] + ",\n\"ranks\":" + parts[5]);
    sink.write(fmt::format(",\n\"messages\":{},\n\"coverage\":{},\n\"cut\":{},\n\"texts\":{}}}", messages.json(),
                           coverage, texts_->most_characters(), all));
  }

 private:
  uint32_t text(std::string_view text) { return texts_->number(text); }

  // Words that no text may have with --redact.
  void hide() {
    // A known folder is hidden as a whole: its name may have blanks.
    const auto hide_folder = [&](std::string_view path) {
      const size_t slash = path.rfind('/');
      if (slash != std::string_view::npos) redaction_.hide(path.substr(0, slash + 1), "");
    };
    for (const Process& process : trace_.processes) {
      hide_folder(process.executable);
      hide_folder(process.source);
      hide_folder(process.fact("working_directory") + "/");
      redaction_.hide(process.command_line, "[command line]");
      redaction_.hide(process.host, "[host]");
      redaction_.hide(process.host.substr(0, process.host.find('.')), "[host]");
      for (const std::string_view text : {process.executable, process.command_line, process.source})
        redaction_.hide_users(text);
      for (const auto& [key, value] : process.facts) {
        if (key == "host" || key == "hostname") redaction_.hide(value, "[host]");
        if (key == "user" || key == "username") redaction_.hide(value, "[user]");
        redaction_.hide_users(value);
      }
    }
  }

  std::string facts() {
    List list;
    const auto add = [&](std::string_view key, const std::string& value) {
      if (!value.empty()) list.add(List().number(text(key)).number(text(value)).json());
    };
    const auto start = static_cast<std::time_t>(trace_.start_realtime_ns / 1'000'000'000);
    if (start != 0) add("Start", fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(start)));
    constexpr size_t kNamed = 16;
    for (size_t p = 0; p < std::min(trace_.processes.size(), kNamed); ++p) {
      const Process& process = trace_.processes[p];
      add("Process", fmt::format("{}{}{}", process.pid, process.rank ? fmt::format(", rank {}", *process.rank) : "",
                                 process.executable.empty() ? "" : ": " + process.executable));
      if (!options_.redact) {
        add("Command line", process.command_line);
        add("Host", process.host.empty() ? process.fact("host") : process.host);
      }
      add("Input", fmt::format("{} ({})", process.source, process.format));
      add("GPU times", process.fact("gpu_times"));
    }
    if (trace_.processes.size() > kNamed)
      add("Processes", fmt::format("{}, of which {} are listed", trace_.processes.size(), kNamed));
    std::map<std::string, size_t> gpus;
    std::set<uint32_t> seen;
    for (const Device& device : trace_.devices) {
      if (seen.insert(device.physical).second) ++gpus[device.name.empty() ? "unknown" : device.name];
    }
    std::string names;
    for (const auto& [name, count] : gpus) names += fmt::format("{}{} × {}", names.empty() ? "" : ", ", count, name);
    add("GPUs", names);
    add("GPU operations", std::to_string(trace_.operations.size()));
    add("Launches and calls", std::to_string(trace_.host.size()));
    add("Written by", "prof " PROF_VERSION);
    return list.json();
  }

  // The type of a span: its name, its full name or a remark (or -1), its kind. Spans with one type have one number.
  uint32_t type(uint32_t name, int64_t detail, int kind) {
    const std::array<int64_t, 3> key{name, detail, kind};
    const auto [found, added] = types_.try_emplace(key, static_cast<uint32_t>(types_.size()));
    if (added) type_list_.add(List().number(name).number(detail).number(kind).json());
    return found->second;
  }
  uint32_t operation_type(const GpuOperation& operation) {
    const KernelNames& names = input_.views.names();
    const auto kind = static_cast<int>(operation.kind());
    const bool is_kernel = operation.has_kernel();
    // A kernel without a name of its own has that of its launch.
    const uint64_t named = is_kernel ? index(names.named_by(operation)) : 0;
    const uint64_t key = named << 32 | operation.detail | (operation.kind() == GpuKind::Graph ? uint64_t{1} << 63 : 0);
    const auto found = operation_types_.find(is_kernel ? key : UINT64_MAX);
    if (found != operation_types_.end()) return found->second;
    const std::string_view name = operation_name(names, operation, NameForm::Short);
    std::string detail;
    if (is_kernel) {
      const std::string_view full = operation_name(names, operation, NameForm::Full);
      const Kernel& kernel = trace_.kernels[operation.detail];
      if (full != name) detail = std::string(full) + "; ";
      if (kernel.grid[0] != 0) {
        detail += fmt::format("grid {}×{}×{}, block {}×{}×{}", kernel.grid[0], kernel.grid[1], kernel.grid[2],
                              kernel.block[0], kernel.block[1], kernel.block[2]);
        if (kernel.from_gpu)
          detail += fmt::format(", {} registers, {} B shared memory", kernel.registers,
                                uint64_t{kernel.static_shared_bytes} + kernel.dynamic_shared_bytes);
      }
    } else if (operation.kind() == GpuKind::Copy) {
      detail =
          fmt::format("{} B, {} to {} memory", uint64_t{operation.bytes}, memory_kind_name(operation.source_memory()),
                      memory_kind_name(operation.destination_memory()));
    } else {
      detail = fmt::format("{} B, {} memory", uint64_t{operation.bytes}, memory_kind_name(operation.memory_kind()));
    }
    const uint32_t number = type(text(name), detail.empty() ? -1 : int64_t{text(detail)}, kind);
    if (is_kernel) operation_types_.emplace(key, number);
    return number;
  }
  uint32_t range_type(const Range& range) {
    const Label& label = trace_.labels[index(range.label)];
    const std::string_view domain = trace_.text(label.domain);
    constexpr std::string_view kKinds[] = {"NVTX range", "operator", "annotation", "Python function", "profiler"};
    std::string detail(range.style == RangeStyle::Mark ? "mark"
                                                       : kKinds[std::min<size_t>(static_cast<size_t>(range.kind), 4)]);
    if (!domain.empty()) detail += fmt::format(" of domain {}", domain);
    if (range.unfinished) detail += ", without an end";
    return type(text(trace_.range_name(range)), text(detail), 4);
  }
  uint32_t call_type(const HostEvent& call) {
    std::string detail = call.result() == 0 ? "" : fmt::format("result {}", call.result());
    if (call.has(kHostUnfinished)) detail = "it had not returned at the end of the recording";
    return type(text(plain_api_name(trace_.api_name(call))), detail.empty() ? -1 : int64_t{text(detail)}, 5);
  }

  // Named by the frame that says most, as in tables.
  uint32_t sample_type(uint32_t row) {
    const HostSamples& samples = trace_.host_sampling.samples;
    constexpr size_t kFrames = 12;
    CallStacks& stacks = call_stacks(input_.views);
    const HostCode code{{}, samples.detail[row], samples.state[row], samples.blocked_in[row]};
    const std::string state = host_state_text(trace_, code), frame = stacks.best(samples.stack[row]);
    const std::string stack = stacks.text(samples.stack[row], kFrames);
    return type(text(frame.empty() ? state : frame), text(stack.empty() ? state : state + "; stack: " + stack), 8);
  }
  uint32_t state_type(HostState state) { return type(text(host_state_text(trace_, {{}, {}, state, {}})), -1, 7); }

  Span span(const Timeline& timeline, RowKind kind, uint32_t row) const {
    const ThreadStates& states = trace_.host_sampling.states;
    const HostSamples& samples = trace_.host_sampling.samples;
    switch (kind) {
      case RowKind::Gap: return {timeline.gaps[row].begin_ns, timeline.gaps[row].end_ns};
      case RowKind::Operation: return {trace_.operations[row].start_ns, trace_.operations[row].last_ns()};
      case RowKind::Range: return {trace_.ranges[row].begin_ns, trace_.ranges[row].end_ns};
      case RowKind::Mark: return {trace_.marks[row].begin_ns, trace_.marks[row].begin_ns};
      case RowKind::State: return {states.begin_ns[row], states.end_ns[row]};
      case RowKind::Sample: return {samples.time_ns[row], samples.time_ns[row]};
      case RowKind::Call: break;
    }
    return {trace_.host[row].begin_ns, trace_.host[row].end_ns};
  }

  // Time from the launch call's start to the operation's; -1: unknown.
  int64_t launch_delay(uint32_t row) const {
    const GpuOperation& operation = trace_.operations[row];
    if (!operation.linked()) return -1;
    return std::max<int64_t>(0, operation.start_ns - trace_.host[operation.launch].begin_ns);
  }

  // The timeline with so many pieces that it fits. Rows of long spans cannot be merged and may exceed the limit.
  std::string timeline_that_fits() {
    const Timeline timeline = timeline_of(input_, whole_times_);
    constexpr size_t kPieceBytes = 28, kFewest = 2000;
    for (size_t most = limits_.timeline() / kPieceBytes;; most = most * 2 / 3) {
      texts_.emplace(options_.redact ? &redaction_ : nullptr);
      types_.clear();
      operation_types_.clear();
      type_list_ = List();
      std::string json = timeline_json(timeline, most);
      if (most < kFewest || json.size() + texts_->json(limits_.bytes / 6).size() <= limits_.timeline()) return json;
    }
  }

  std::string timeline_json(const Timeline& timeline, size_t most) {
    const PieceNames culprits(input_);
    const int64_t run_ns = timeline.end_ns - timeline.begin_ns;
    std::vector<PieceRow> rows;
    for (const TimelineRow& row : timeline.rows)
      rows.push_back({row.rows.size(), [&](size_t i) { return span(timeline, row.kind, row.rows[i]); }, 0});
    choose_grains(rows, run_ns, most);
    const auto type_of = [&](const TimelineRow& row, uint32_t item) {
      switch (row.kind) {
        case RowKind::Operation: return operation_type(trace_.operations[item]);
        case RowKind::Range: return range_type(trace_.ranges[item]);
        case RowKind::State: return state_type(trace_.host_sampling.states.state[item]);
        case RowKind::Sample: return sample_type(item);
        case RowKind::Mark: return range_type(trace_.marks[item]);
        case RowKind::Call: return call_type(trace_.host[item]);
        case RowKind::Gap: break;
      }
      const TimelineGap& gap = timeline.gaps[item];
      return type(text(gap.charge.text()), gap.culprit == 0 ? -1 : int64_t{text(culprits.text(gap.culprit))}, 6);
    };
    List lanes;
    for (size_t r = 0; r < rows.size(); ++r) {
      const TimelineRow& row = timeline.rows[r];
      // A piece: start after the previous start, length, type; of a merged one the type is -1 and the others are in
      // `merged`: number of spans, their time, type and time of the longest.
      List pieces, merged, delays;
      int64_t last_ns = timeline.begin_ns, sum_ns = 0;
      pieces_of(rows[r], run_ns, [&](const Piece& piece) {
        const uint32_t item = row.rows[piece.longest];
        pieces.number(piece.begin_ns - last_ns).number(piece.end_ns - piece.begin_ns);
        last_ns = piece.begin_ns;
        sum_ns += piece.sum_ns;
        const uint32_t type = type_of(row, item);
        if (piece.count > 1) {
          pieces.number(-1);
          merged.number(piece.count).number(piece.sum_ns).number(type).number(piece.longest_ns);
        } else {
          pieces.number(type);
        }
        if (row.kind == RowKind::Operation) delays.number(piece.count > 1 ? -1 : launch_delay(item));
      });
      lanes.add(fmt::format(
          "{{\"group\":{},\"name\":{},\"kind\":{},\"level\":{},\"spans\":{},\"sum\":{},\"grain\":{},\n\"pieces\":{}"
          ",\n\"merged\":{},\n\"delays\":{}}}\n",
          text(row.group), text(row.name), static_cast<int>(row.kind), row.level, row.rows.size(), sum_ns,
          grain_ns(run_ns, rows[r].grain), pieces.json(), merged.json(), delays.json()));
    }
    for (const TimelineMemory& memory : timeline.memory) {
      List steps;
      for (const auto& [time_ns, bytes] : memory.steps) steps.number(time_ns - timeline.begin_ns).number(bytes);
      lanes.add(fmt::format("{{\"group\":{},\"name\":{},\"kind\":7,\"level\":0,\"steps\":{}}}\n", text(memory.group),
                            text(memory.name), steps.json()));
    }
    List notes;
    for (const std::string& note : timeline.notes) notes.number(text(note));
    if (!whole_times_) notes.number(text("GPU times were recorded in bursts: gaps are not drawn"));
    return fmt::format("{{\"begin\":{},\"length\":{},\"notes\":{},\"types\":{},\n\"lanes\":{}}}", timeline.begin_ns,
                       run_ns, notes.json(), type_list_.json(), lanes.json());
  }

  std::string cell(const Table& table, const TableColumn& column, size_t row) {
    const int64_t value = column.cells[row];
    if (value == kEmptyCell) return "null";
    if (column.type == CellType::Text) return fmt::format_int(text(table.text(value))).str();
    if (!is_real(column.type)) return fmt::format_int(value).str();
    const double real = Table::real(value);
    return std::isfinite(real) ? fmt::format("{:.6g}", real) : "null";
  }

  // `command` prints the whole table.
  std::string table_json(std::string_view name, std::string_view title, const Table& table, std::string_view command) {
    List columns, cells, notes;
    const size_t rows = std::min(table.rows(), limits_.rows());
    for (const TableColumn& column : table.columns()) {
      const bool empty =
          std::all_of(column.cells.begin(), column.cells.end(), [](int64_t each) { return each == kEmptyCell; });
      if (empty) continue;
      columns.add(fmt::format("[{},{},{},{}]", json_string(column.key), text(column.title),
                              static_cast<int>(column.type), column.decimals));
      List list;
      for (size_t row = 0; row < rows; ++row) list.add(cell(table, column, row));
      cells.add(list.json());
    }
    for (const std::vector<std::string>* lines : {&table.notes, &table.footers}) {
      for (const std::string& line : *lines) notes.number(text(line));
    }
    if (rows != table.rows())
      notes.number(text(fmt::format("first {} of {} rows; `{}` prints all", rows, table.rows(), command)));
    return fmt::format("{{\"name\":{},\"title\":{},\"columns\":{},\"cells\":{},\"rows\":{},\"notes\":{}}}",
                       json_string(name), text(title), in_script(columns.json()), cells.json(), rows, notes.json());
  }

  std::string report_json(const Report& report) {
    try {
      check_gpu_times(report, trace_, input_.selection, input_.options);
      Table table = run_report(report, input_);
      table.store();
      return table_json(report.name, report.question, table, fmt::format("prof report {}", report.name));
    } catch (const std::runtime_error& error) {
      return fmt::format(
          "{{\"name\":{},\"title\":{},\"columns\":[],\"cells\":[],\"rows\":0,\"refused\":true,\"notes\":[{}]}}",
          json_string(report.name), text(report.question), text(error.what()));
    }
  }

  std::string tables() {
    List list;
    for (const std::string_view name :
         {"advise", "kernels", "stalls", "hot-lines", "breakdown", "idle", "critical-path", "nvtx", "copies", "memory",
          "ranks", "collectives", "counters", "sampling", "hot-stacks", "roofline"}) {
      const bool of_pc_samples = name == "stalls" || name == "hot-lines";
      if (of_pc_samples && trace_.pc_samples.empty()) continue;
      const auto* const report =
          std::find_if(std::begin(kReports), std::end(kReports), [&](const Report& r) { return r.name == name; });
      if (name == "ranks" && !ranks_) continue;
      list.add(report_json(*report) + "\n");
      if (name == "advise" && options_.changes != nullptr)
        list.add(table_json("diff", "What changed since the earlier runs, by how much, and is it real?",
                            *options_.changes, "prof diff") +
                 "\n");
    }
    return list.json();
  }

  // The picture of ranks and steps.
  std::string ranks_json() {
    if (!ranks_) return "null";
    return rank_steps_json(trace_, *ranks_, limits_.points() * 10,
                           [&](std::string_view name) { return std::to_string(text(name)); });
  }

  // The dots of the devices with a roof: intensity, rate, time, bound, name.
  std::string roofline_json() {
    List pictures;
    Estimates estimates(input_, RowsAre::ByWork);
    Roofline roof;
    try {
      roof = roofline(input_, estimates);
    } catch (const std::runtime_error&) {
      return "[]";  // the table has the reason
    }
    for (uint32_t d = 0; d < roof.peaks.of_device.size(); ++d) {
      const DevicePeaks& device = roof.peaks.of_device[d];
      List points, roofs;
      uint32_t used = 0;
      size_t count = 0;
      for (const RoofPoint& point : roof.points) {
        const std::optional<double> x = point.sums.intensity(), y = point.sums.tera_flops();
        if (point.device != d || !x || !y || !(*x > 0) || !(*y > 0) || ++count > limits_.points()) continue;
        used |= point.sums.peaks;
        points.add(List()
                       .real(*x)
                       .real(*y)
                       .number(point.sums.total_ns)
                       .number(text(roof_bound_name(point.bound)))
                       .number(text(point.name))
                       .json());
      }
      if (count == 0) continue;
      for (size_t type = 0; type < kPeakTypes; ++type) {
        const double peak = peak_flops(device, static_cast<PeakType>(type)) * 1e-12;
        if ((used >> type & 1) != 0 && peak > 0)
          roofs.add(List().number(text(peak_type_name(static_cast<PeakType>(type)))).real(peak).json());
      }
      pictures.add(fmt::format("{{\"device\":{},\"bandwidth\":{},\"roofs\":{},\"points\":{},\"dots\":{}}}",
                               text(fmt::format("device {} {}", trace_.devices[d].ordinal, trace_.devices[d].name)),
                               device.bandwidth_gbs, roofs.json(), points.json(), count));
    }
    return pictures.json();
  }

  // GPU time by call stack. Nodes too small to see are part of their parent.
  std::string flame_json() {
    if (!call_stacks(input_.views).any()) return "null";
    try {
      return flame_of(stack_tree(input_, StackMetric::GpuTime));
    } catch (const std::runtime_error&) {
      return "null";
    }
  }
  std::string flame_of(const StackTree& answer) {
    const CallTree& tree = answer.tree;
    const std::vector<TreeNode>& nodes = tree.nodes();
    const std::vector<int64_t> totals = tree.totals();
    if (totals[0] <= 0) return "null";
    int64_t least = 0;
    if (nodes.size() > limits_.nodes()) {
      std::vector<int64_t> sorted = totals;
      const auto last = sorted.begin() + static_cast<ptrdiff_t>(limits_.nodes());
      std::nth_element(sorted.begin(), last, sorted.end(), std::greater<>());
      least = *last + 1;
    }
    List parents, frames, values, counts, names;
    std::unordered_map<uint32_t, uint32_t> frame_numbers;
    std::vector<uint32_t> number(nodes.size(), 0);
    std::vector<size_t> kept;
    std::vector<int64_t> value;
    std::vector<uint64_t> count;
    for (uint32_t n = 0; n < nodes.size(); ++n) {
      const uint32_t parent = number[nodes[n].parent];
      if (n == 0 || totals[n] >= least) {
        number[n] = static_cast<uint32_t>(kept.size());
        kept.push_back(n);
        value.push_back(nodes[n].value);
        count.push_back(nodes[n].count);
        parents.number(parent);
        const auto [frame, added] =
            frame_numbers.try_emplace(nodes[n].frame, static_cast<uint32_t>(frame_numbers.size()));
        if (added) {
          const TreeFrame& each = tree.frames()[nodes[n].frame];
          names.add(List()
                        .number(text(n == 0 ? "all" : tree_frame_text(tree, each)))
                        .number(static_cast<int>(each.kind))
                        .json());
        }
        frames.number(frame->second);
      } else {
        number[n] = parent;
        value[parent] += nodes[n].value;
        count[parent] += nodes[n].count;
      }
    }
    for (size_t k = 0; k < kept.size(); ++k) {
      values.number(value[k]);
      counts.number(static_cast<int64_t>(count[k]));
    }
    List notes;
    for (const std::string& note : answer.notes) notes.number(text(note));
    if (kept.size() != nodes.size()) {
      notes.number(text(fmt::format("{} of {} frames are too small to be drawn; their time is in their callers",
                                    nodes.size() - kept.size(), nodes.size())));
    }
    return fmt::format(
        "{{\"unit\":{},\"frames\":{},\n\"parent\":{},\n\"frame\":{},\n\"value\":{},\n\"count\":{},\"notes\":{}}}",
        json_string(tree.unit), names.json(), parents.json(), frames.json(), values.json(), counts.json(),
        notes.json());
  }

  const AnalysisInput& input_;
  const Trace& trace_;
  const RunPageOptions& options_;
  Redaction redaction_;
  PageLimits limits_;
  std::optional<PageTexts> texts_;
  bool whole_times_ = true;
  std::shared_ptr<const RankJob> ranks_;  // null: one process, or GPU times in bursts
  std::map<std::array<int64_t, 3>, uint32_t> types_;
  std::unordered_map<uint64_t, uint32_t> operation_types_;  // of kernels
  List type_list_;
};

}  // namespace

void write_run_page(const AnalysisInput& input, const RunPageOptions& options, Sink& sink) {
  // page.html has a mark in the place of each part.
  std::string_view rest = kPageHtml;
  const auto up_to = [&](std::string_view mark) {
    const size_t at = rest.find(mark);
    if (at == std::string_view::npos) throw std::logic_error("page.html has no " + std::string(mark));
    sink.write(rest.substr(0, at));
    rest.remove_prefix(at + mark.size());
  };
  up_to("@POLICY@");
  sink.write(page_policy());
  up_to("@STYLE@");
  sink.write(kPageStyle);
  up_to("@DATA@");
  PageData(input, options).write(sink);
  up_to("@SCRIPT@");
  sink.write(kPageScript);
  sink.write(rest);
}

}  // namespace prof::analyzer
