// A hand-made run for tests of advise, what-if and the critical path: what the host costs and what could be saved.
#pragma once

#include "analyzer/analysis/collectives/host_clocks.h"
#include "analyzer/reports/advise/advise_rules.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <memory>
#include <string>
#include <string_view>

namespace prof::tests {

inline constexpr uint32_t kPinnedToDevice = 1 | 2 << 8 | 3 << 16, kDeviceToPageable = 2 | 3 << 8 | 1 << 16;

struct AdvisedRun : HandTrace {
  AdvisedRun() { trace.processes[0].format = "Kineto"; }

  void launched(int64_t begin, int64_t end, int64_t start, int64_t stop, uint32_t stream = 0,
                std::string_view name = "kernel", uint32_t thread = 0) {
    launch(begin, end, ++next_id, thread);
    kernel(start, stop, next_id, stream, name);
  }
  void copied(std::string_view api, int64_t begin, int64_t end, int64_t start, int64_t stop,
              uint32_t kind = kPinnedToDevice, uint64_t bytes = 64) {
    call(api, begin, end, ++next_id);
    copy(start, stop, next_id, bytes, kind);
  }
  const analyzer::Table& advise() {
    if (!table) {
      finish();
      analyzer::align_clocks(trace);
      table = std::make_unique<analyzer::Table>(report(analyzer::report_advise));
    }
    return *table;
  }
  // "saved | count | from | to" of a rule's findings, the largest first; empty if it found nothing. What is saved at
  // most if nothing waited for more than the trace shows.
  std::string found(std::string_view rule) {
    std::string text;
    for (size_t row = 0; row < advise().rows(); ++row) {
      if (cell(row, "rule") == rule)
        text +=
            (text.empty() ? "" : "\n") + known(*table, row) + " | " + row_text(*table, row, {"count", "start", "end"});
    }
    return text;
  }
  static std::string known(const analyzer::Table& table, size_t row) {
    return std::to_string(std::stoll(cell_text(table, row, "saved")) - std::stoll(cell_text(table, row, "assumed")));
  }
  std::string evidence(std::string_view rule) {
    for (size_t row = 0; row < advise().rows(); ++row) {
      if (cell(row, "rule") == rule) return cell(row, "finding") + "; " + cell(row, "evidence");
    }
    return "";
  }
  std::string cell(size_t row, std::string_view key) { return cell_text(advise(), row, key); }
  // What a rule's first finding advises; empty if it found nothing.
  std::string action(std::string_view rule) {
    for (size_t row = 0; row < advise().rows(); ++row) {
      if (cell(row, "rule") == rule) return cell(row, "action");
    }
    return "";
  }
  bool has_note(std::string_view part) {
    for (const std::string& note : advise().notes) {
      if (note.find(part) != std::string::npos) return true;
    }
    return false;
  }

  uint32_t next_id = 0;
  std::unique_ptr<analyzer::Table> table;
};

// Launch calls of 80 ns every 100 ns, kernels of 10 ns that start 5 ns later: only the host limits the run.
inline void launch_bound_loop(AdvisedRun& run, int64_t launches) {
  for (int64_t i = 0; i < launches; ++i) run.launched(100 * i, 100 * i + 80, 100 * i + 85, 100 * i + 95);
}

}  // namespace prof::tests
