// How are rows grouped by the innermost frames of their call stacks? `--group-by stack:N` of every report whose rows
// are launches or calls, as torch.profiler's group_by_stack_n; `stack` takes all frames. Equal texts are one group, so
// frames with different lines differ.
#pragma once

#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/analysis/views.h"
#include "analyzer/table/table.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

class StackGroups {
 public:
  // Whether the word is `stack` or `stack:N` with N of 1 or more. Sets `most` to the number of frames.
  static bool parse(std::string_view word, uint32_t& most);
  // For a report without other words. 0: no word is given. Throws std::runtime_error for another word.
  static uint32_t parse_only(std::string_view report, const std::vector<std::string>& words);

  // most == 0: everything is one group, and there is no column.
  StackGroups(const Views& views, uint32_t most) : views_(views), most_(most) {}
  bool wanted() const { return most_ != 0; }

  // The group of a row of Trace::host, or of an operation by its launch or, for a graph node, by the call that captured
  // it. 0: no stack.
  uint32_t of_call(uint32_t host_row) { return wanted() ? of(stacks().of_call(host_row)) : 0; }
  uint32_t of_operation(const GpuOperation& operation) { return wanted() ? of(stacks().of_operation(operation)) : 0; }
  uint32_t of_stack(StackId stack) { return wanted() ? of(stack) : 0; }
  // Frames joined by ";", innermost first.
  std::string_view text(uint32_t group) const { return texts_[StringId{group}]; }

  // The column `Stack` and a row's cell. Nothing is added if stacks are not wanted.
  void add_column(Table& table) const;
  void add_cell(Table::Row& row, uint32_t group) const;

 private:
  uint32_t of(StackId stack);
  CallStacks& stacks() {
    if (stacks_ == nullptr) stacks_ = &call_stacks(views_);
    return *stacks_;
  }

  const Views& views_;
  CallStacks* stacks_ = nullptr;  // created on first use, because it reads symbols
  uint32_t most_;
  std::unordered_map<uint32_t, uint32_t> group_of_;  // by StackId
  StringTable texts_;
};

}  // namespace prof::analyzer
