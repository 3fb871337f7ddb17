#include "analyzer/analysis/stacks/backward_calls.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

// The mangled names in which the engine's threads begin (torch/csrc/autograd/engine.cpp, python_engine.cpp).
bool begins_engine_thread(std::string_view symbol) {
  return (symbol.starts_with("_ZN5torch8autograd6Engine") ||
          symbol.starts_with("_ZN5torch8autograd6python12PythonEngine")) &&
         symbol.find("thread_init") != std::string_view::npos;
}

bool is_backward_call(std::string_view file, std::string_view function) {
  return file.ends_with("torch/autograd/__init__.py") && (function == "backward" || function == "grad");
}

// PyTorch's own functions around backward(), which do not identify code of the program.
bool is_around_backward(std::string_view file) {
  return file.ends_with("torch/_tensor.py") || file.find("torch/autograd/") != std::string_view::npos;
}

}  // namespace

BackwardCalls::BackwardCalls(const Trace& trace, const Symbols& symbols, MergedStacks& merged)
    : trace_(trace), symbols_(symbols), merged_(merged) {
  std::vector<bool> backward(trace.stacks.size());
  bool found = false;
  for (uint32_t stack = 1; stack < trace.stacks.size(); ++stack) {
    const std::span<const StackFrame> python = trace.stacks.python(StackId{stack});
    backward[stack] = std::any_of(python.begin(), python.end(), [&](const StackFrame each) {
      const Frame& frame = trace.stacks[each.frame()];
      return is_backward_call(trace.text(frame.file), trace.text(frame.function));
    });
    found |= backward[stack];
  }
  if (!found) return;
  engine_.resize(trace.stacks.size(), Known::NotYet);
  for (uint32_t t = 0; t < trace.threads.size(); ++t) {
    Waiting waiting{ThreadId{t}, {}};
    const Rows rows = trace.threads[t].host;
    for (uint32_t row = rows.first; row < rows.last; ++row) {
      const uint32_t stack = trace.host[row].stack;
      if (stack == 0) continue;
      const StackId inside = backward[stack] ? StackId{stack} : StackId{};
      const StackId last = waiting.since.empty() ? StackId{} : waiting.since.back().stack;
      if (inside != last) waiting.since.push_back({trace.host[row].begin_ns, inside});
    }
    if (!waiting.since.empty()) waiting_.push_back(std::move(waiting));
  }
}

bool BackwardCalls::is_engine(StackId stack) {
  Known& known = engine_[static_cast<uint32_t>(stack)];
  if (known != Known::NotYet) return known == Known::Engine;
  known = Known::Other;
  for (const StackFrame each : trace_.stacks.native(stack)) {
    for (const SymbolFrame& symbol : symbols_.at(each.frame())) {
      if (begins_engine_thread(symbols_.text(symbol.function))) known = Known::Engine;
    }
  }
  return known == Known::Engine;
}

StackId BackwardCalls::waiting_stack(uint32_t host_row) const {
  const HostEvent& call = trace_.host[host_row];
  StackId found{};
  for (const Waiting& waiting : waiting_) {
    if (waiting.thread == call.thread || trace_.thread(waiting.thread).process != trace_.thread(call.thread).process)
      continue;
    const auto after = std::partition_point(waiting.since.begin(), waiting.since.end(),
                                            [&](const Since& since) { return since.ns <= call.begin_ns; });
    if (after == waiting.since.begin() || (after - 1)->stack == StackId{}) continue;
    if (found != StackId{}) return {};
    found = (after - 1)->stack;
  }
  return found;
}

StackId BackwardCalls::join(StackId own, StackId waiting) {
  const auto [joined, added] = joined_.try_emplace({own, waiting}, own);
  if (!added) return joined->second;
  const std::span<const uint32_t> rows = merged_.of(waiting);
  const auto python = [&](uint32_t row) { return merged_.frame(row).kind == TreeFrameKind::Python; };
  const auto file = [&](uint32_t row) { return merged_.text(merged_.frame(row).file); };
  const auto call = std::find_if(rows.begin(), rows.end(), [&](uint32_t row) {
    return python(row) && is_backward_call(file(row), merged_.text(merged_.frame(row).name));
  });
  const auto caller =
      std::find_if(call, rows.end(), [&](uint32_t row) { return python(row) && !is_around_backward(file(row)); });
  if (caller != rows.end())
    joined->second = merged_.with_caller(own, rows.subspan(static_cast<size_t>(caller - rows.begin())));
  return joined->second;
}

StackId BackwardCalls::continued(uint32_t host_row, StackId own) {
  const uint32_t recorded = trace_.host[host_row].stack;
  if (waiting_.empty() || recorded == 0 || !is_engine(StackId{recorded})) return own;
  const StackId waiting = waiting_stack(host_row);
  return waiting == StackId{} ? own : join(own, waiting);
}

}  // namespace prof::analyzer
