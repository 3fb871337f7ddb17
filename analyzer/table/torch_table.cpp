#include "analyzer/table/torch_table.h"

#include "analyzer/base/json/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace prof::analyzer {

namespace {

constexpr size_t kColumnWidth = 12;

// Number of code points, as in Python.
size_t length(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

size_t bytes_of(std::string_view text, size_t code_points) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if ((text[at] & 0xc0) != 0x80 && code_points-- == 0) break;
  }
  return at;
}

std::string cut_name(const std::string& name, size_t width) {
  if (width < 4 || length(name) < width - 3) return name;
  return name.substr(0, bytes_of(name, width - 3)) + "...";
}

// The end of a path is more informative than its start.
std::string cut_path(const std::string& path, size_t width) {
  const size_t size = length(path);
  if (size <= width) return path;
  const std::string rest = path.substr(bytes_of(path, size - width));
  return length(rest) > 3 ? "..." + rest.substr(bytes_of(rest, 3)) : rest;
}

std::vector<std::string> frames(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty()) {
    const size_t end = std::min(text.find(';'), text.size());
    found.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

std::string micros_text(double us) {
  if (us >= 1e6) return fmt::format("{:.3f}s", us / 1e6);
  return us >= 1e3 ? fmt::format("{:.3f}ms", us / 1e3) : fmt::format("{:.3f}us", us);
}

struct Flops {
  double scale = 1;
  const char* unit = "FLOPs";
};

Flops flops_unit(uint64_t least) {
  static constexpr const char* kUnits[] = {"FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs"};
  Flops flops;
  size_t unit = 0;
  while (unit + 1 < std::size(kUnits) && least >= 1000) {
    least /= 1000;
    ++unit;
    flops.scale /= 1000;
  }
  flops.unit = kUnits[unit];
  return flops;
}

class Writer {
 public:
  Writer(const Table& table, const TorchLayout& layout)
      : table_(table), layout_(layout), flops_(flops_unit(layout.least_flops)) {}

  std::string run() {
    declare();
    const std::string dashes = separator();
    const std::string equals(line_length(), '=');
    if (layout_.top_level_only) {
      line(equals);
      line("This report only display top-level ops statistics");
    }
    line(dashes);
    std::vector<std::string> titles;
    for (const Column& column : columns_) titles.push_back(column.title);
    put(titles);
    line(dashes);
    for (size_t row = 0; row < table_.rows(); ++row) put_row(row);
    line(dashes);
    line("Self CPU time total: " + torch_time(layout_.self_cpu_ns));
    if (layout_.with_device) line("Self CUDA time total: " + torch_time(layout_.self_device_ns));
    return std::move(text_);
  }

 private:
  struct Column {
    std::string title;
    size_t width;
    bool left = false;
  };

  const TableColumn& cells(std::string_view key) const {
    const auto found = std::find_if(table_.columns().begin(), table_.columns().end(),
                                    [&](const TableColumn& column) { return column.key == key; });
    return *found;
  }
  int64_t number(std::string_view key, size_t row) const {
    const int64_t cell = cells(key).cells[row];
    return cell == kEmptyCell ? 0 : cell;
  }
  std::string text(std::string_view key, size_t row) const {
    const int64_t cell = cells(key).cells[row];
    return cell == kEmptyCell ? std::string() : readable_utf8(table_.text(cell));
  }

  void declare() {
    columns_.push_back({"Name", layout_.name_width});
    const auto add = [&](std::initializer_list<const char*> titles) {
      for (const char* title : titles) columns_.push_back({title, kColumnWidth});
    };
    add({"Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"});
    if (layout_.with_device) add({"Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg"});
    if (layout_.with_estimates) add({"Est Self CUDA", "+- (95 %)", "Est CUDA", "+- (95 %)"});
    if (layout_.with_memory) add({"CPU Mem", "Self CPU Mem"});
    if (layout_.with_memory && layout_.with_device_memory) add({"CUDA Mem", "Self CUDA Mem"});
    add({"# of Calls"});
    if (layout_.with_node) add({"Node ID"});
    if (layout_.with_thread) add({"Thread"});
    if (layout_.with_domain) add({"Domain"});
    if (layout_.with_shapes) columns_.push_back({"Input Shapes", layout_.shapes_width});
    if (layout_.with_stack) columns_.push_back({"Source Location", layout_.source_width, true});
    if (layout_.least_flops != 0) columns_.push_back({fmt::format("Total {}", flops_.unit), kColumnWidth});
  }

  void put_row(size_t row) {
    const std::vector<std::string> stack = layout_.with_stack ? frames(text("stack", row)) : std::vector<std::string>();
    const auto ns = [&](std::string_view key) { return number(key, row); };
    const int64_t count = std::max<int64_t>(1, ns("count"));
    const auto average = [&](std::string_view key) {
      return micros_text(static_cast<double>(ns(key)) / 1e3 / static_cast<double>(count));
    };
    // Empty where the row is not part of the total.
    const auto share = [&](std::string_view key, std::string_view part, int64_t whole_ns) {
      return whole_ns > 0 && cells(key).cells[row] == kEmptyCell ? std::string("--") : torch_share(ns(part), whole_ns);
    };
    std::vector<std::string> values{cut_name(text("name", row), layout_.name_most)};
    values.push_back(share("self_cpu_percent", "self_cpu_time_total", layout_.self_cpu_ns));
    values.push_back(torch_time(ns("self_cpu_time_total")));
    values.push_back(ns("is_async") != 0 && cells("cpu_percent").cells[row] != kEmptyCell
                         ? "0"
                         : share("cpu_percent", "cpu_time_total", layout_.self_cpu_ns));
    values.push_back(torch_time(ns("cpu_time_total")));
    values.push_back(average("cpu_time_total"));
    if (layout_.with_device) {
      values.push_back(torch_time(ns("self_device_time_total")));
      values.push_back(share("self_device_percent", "self_device_time_total", layout_.self_device_ns));
      values.push_back(torch_time(ns("device_time_total")));
      values.push_back(average("device_time_total"));
    }
    for (const char* key : {"estimated_self_device_total", "estimated_self_device_half_width", "estimated_device_total",
                            "estimated_device_half_width"}) {
      if (!layout_.with_estimates) break;
      const int64_t cell = cells(key).cells[row];
      values.push_back(cell == kEmptyCell ? "--" : torch_time(cell));
    }
    if (layout_.with_memory) {
      values.push_back(torch_memory(ns("cpu_memory_usage")));
      values.push_back(torch_memory(ns("self_cpu_memory_usage")));
      if (layout_.with_device_memory) {
        values.push_back(torch_memory(ns("device_memory_usage")));
        values.push_back(torch_memory(ns("self_device_memory_usage")));
      }
    }
    values.push_back(fmt::format("{}", ns("count")));
    if (layout_.with_node) values.push_back(fmt::format("{}", ns("node_id")));
    if (layout_.with_thread) values.push_back(text("thread", row));
    if (layout_.with_domain) values.push_back(text("domain", row));
    if (layout_.with_shapes) {
      const std::string shapes = text("input_shapes", row);
      values.push_back(shapes.substr(0, bytes_of(shapes, layout_.shapes_width)));
    }
    const size_t source = values.size();
    if (layout_.with_stack) values.push_back(stack.empty() ? "" : cut_path(stack[0], layout_.source_width));
    if (layout_.least_flops != 0) {
      const int64_t flops = ns("flops");
      values.push_back(flops <= 0 ? "--" : fmt::format("{:8.3f}", static_cast<double>(flops) * flops_.scale));
    }
    put(values);
    if (!layout_.with_stack) return;
    std::vector<std::string> blank(columns_.size());
    for (size_t i = 1; i < stack.size(); ++i) {
      blank[source] = cut_path(stack[i], layout_.source_width);
      put(blank);
    }
    blank[source].clear();
    put(blank);
  }

  void put(const std::vector<std::string>& values) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const size_t size = length(values[i]), width = columns_[i].width;
      const std::string padding(size < width ? width - size : 0, ' ');
      if (columns_[i].left) {
        text_ += values[i] + padding;
      } else {
        text_ += padding + values[i];
      }
      text_ += "  ";
    }
    text_ += '\n';
  }
  void line(std::string_view text) {
    text_ += text;
    text_ += '\n';
  }
  std::string separator() const {
    std::string dashes;
    for (const Column& column : columns_) dashes += std::string(column.width, '-') + "  ";
    return dashes;
  }
  size_t line_length() const {
    size_t sum = 0;
    for (const Column& column : columns_) sum += column.width + 2;
    return sum - 2;
  }

  const Table& table_;
  const TorchLayout& layout_;
  const Flops flops_;
  std::vector<Column> columns_;
  std::string text_;
};

}  // namespace

std::string torch_table(const Table& table, const TorchLayout& layout) {
  return table.rows() == 0 ? std::string() : Writer(table, layout).run();
}

std::string torch_time(int64_t ns) { return micros_text(static_cast<double>(ns) / 1e3); }

std::string torch_share(int64_t ns, int64_t of_ns) {
  if (of_ns == 0) return "--";
  return fmt::format("{:.2f}%", static_cast<double>(ns) / 1e3 * 100.0 / (static_cast<double>(of_ns) / 1e3));
}

std::string torch_memory(int64_t bytes) {
  const double size = static_cast<double>(bytes);
  if (std::fabs(size) >= 1 << 30) return fmt::format("{:.2f} GB", size / (1 << 30));
  if (std::fabs(size) >= 1 << 20) return fmt::format("{:.2f} MB", size / (1 << 20));
  if (std::fabs(size) >= 1 << 10) return fmt::format("{:.2f} KB", size / (1 << 10));
  return fmt::format("{} B", bytes);
}

}  // namespace prof::analyzer
