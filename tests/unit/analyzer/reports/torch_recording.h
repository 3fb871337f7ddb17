// A training recorded by torch.profiler on an H200, and PyTorch's own results for the same run, in rows that can be
// compared.
#pragma once

#include "analyzer/analysis/cost/op_averages.h"
#include "analyzer/command/inputs.h"

#include <rapidjson/document.h>
#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>

namespace prof::tests {

using namespace analyzer;

inline std::filesystem::path data_folder() {
  const char* const given = std::getenv("PROF_SHARED_DATA");
  return given != nullptr ? std::filesystem::path(given) : std::filesystem::path(PROF_SOURCE_DIR) / "../shared/data";
}

inline std::string inflated(const std::filesystem::path& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  std::string text;
  char part[1 << 16];
  for (int n; (n = gzread(file, part, sizeof part)) > 0;) text.append(part, static_cast<size_t>(n));
  gzclose(file);
  return text;
}

inline int64_t ns(const rapidjson::Value& microseconds) { return std::llround(microseconds.GetDouble() * 1e3); }

// The numbers of a row that PyTorch's answers and prof's have in common.
struct Numbers {
  int64_t count = 0, self_cpu = 0, cpu = 0, self_device = 0, device = 0, flops = 0, self_device_mem = 0,
          self_cpu_mem = 0;
  bool operator==(const Numbers&) const = default;
  Numbers operator-(const Numbers& o) const {
    return {count - o.count,
            self_cpu - o.self_cpu,
            cpu - o.cpu,
            self_device - o.self_device,
            device - o.device,
            flops - o.flops,
            self_device_mem - o.self_device_mem,
            self_cpu_mem - o.self_cpu_mem};
  }
};
inline std::ostream& operator<<(std::ostream& out, const Numbers& n) {
  return out << n.count << " calls, self CPU " << n.self_cpu << ", CPU " << n.cpu << ", self device " << n.self_device
             << ", device " << n.device << ", FLOPs " << n.flops << ", memory " << n.self_device_mem << ", "
             << n.self_cpu_mem;
}
using Answers = std::map<std::string, Numbers>;  // by "name|CPU|shapes"

struct Recording {
  explicit Recording(const std::string& name) {
    const std::filesystem::path folder = data_folder() / "h200";
    trace = read_inputs({folder / (name + ".trace.json.gz")});
    views = std::make_unique<Views>(*trace);
    expected.Parse(inflated(folder / (name + ".expected.json.gz")).c_str());
    table = [&] {
      std::ifstream in(folder / (name + ".table.txt"));
      std::stringstream text;
      text << in.rdbuf();
      return text.str();
    }();
  }
  AnalysisInput input() const { return {*trace, *views, selection, options}; }

  Answers theirs(const char* key) const {
    Answers answers;
    for (const rapidjson::Value& row : expected[key].GetArray()) {
      const std::string device = row["device"].GetString() + std::string_view("DeviceType.").size();
      Numbers& n = answers[std::string(row["key"].GetString()) + "|" + device + "|" + row["shapes"].GetString()];
      const Numbers one{row["count"].GetInt64(),
                        ns(row["self_cpu_us"]),
                        ns(row["cpu_us"]),
                        ns(row["self_dev_us"]),
                        ns(row["dev_us"]),
                        row["flops"].GetInt64(),
                        row["self_dev_mem"].GetInt64(),
                        row["self_cpu_mem"].GetInt64()};
      n = Numbers{} - (Numbers{} - n - one);
    }
    return answers;
  }
  Answers ours(const OpGrouping& grouping) const {
    Answers answers;
    for (const OpAverage& row : op_averages(input(), grouping).rows) {
      answers[row.name + (row.on_device ? "|CUDA|" : "|CPU|") + row.shapes] = {static_cast<int64_t>(row.count),
                                                                               row.self_cpu_ns,
                                                                               row.cpu_ns,
                                                                               row.self_device_ns,
                                                                               row.device_ns,
                                                                               static_cast<int64_t>(row.flops),
                                                                               row.self_memory.device,
                                                                               row.self_memory.host};
    }
    return answers;
  }

  std::unique_ptr<Trace> trace;
  std::unique_ptr<Views> views;
  rapidjson::Document expected;
  std::string table;
  Selection selection;
  ReportOptions options;
};

}  // namespace prof::tests
