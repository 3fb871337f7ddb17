// A hand-made program whose calls have stacks: native addresses, which may have names, and lines of Python.
#pragma once

#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/analysis/views.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace prof::tests {

struct StackProgram : HandTrace {
  StackProgram() { thread(0, 501); }
  analyzer::FrameId native_frame(uint64_t address) {
    if (const auto known = of_module.find(address); known != of_module.end()) return known->second;
    analyzer::Frame frame;
    frame.kind = analyzer::FrameKind::Native, frame.address = address;
    return trace.stacks.intern(frame);
  }
  // Python frames as "function (file.py:line)", innermost first.
  uint32_t stack(const std::vector<uint64_t>& native, const std::vector<std::string>& python) {
    std::vector<analyzer::StackFrame> addresses, frames;
    for (const uint64_t address : native) addresses.push_back(analyzer::StackFrame::of(native_frame(address)));
    for (const std::string& text : python) {
      const size_t open = text.find(" ("), colon = text.rfind(':');
      analyzer::Frame frame;
      frame.kind = analyzer::FrameKind::Python, frame.function = trace.strings.intern(text.substr(0, open));
      frame.file = trace.strings.intern(text.substr(open + 2, colon - open - 2));
      frame.line = static_cast<uint32_t>(std::stoul(text.substr(colon + 1)));
      frames.push_back(analyzer::StackFrame::of(trace.stacks.intern(frame), true));
    }
    return static_cast<uint32_t>(trace.stacks.intern(addresses, frames, 0));
  }
  // A frame of a module's file, with its line.
  uint64_t line_in(std::string_view module, uint64_t address, std::string_view function, std::string_view file,
                   uint32_t line) {
    analyzer::Frame frame;
    frame.kind = analyzer::FrameKind::Native, frame.address = address;
    frame.module = trace.stacks.intern(analyzer::Module{trace.strings.intern(module), {}, 0, 0});
    of_module[address] = trace.stacks.intern(frame);
    trace.symbols.push_back(
        {of_module[address], trace.strings.intern(function), trace.strings.intern(file), line, false});
    return address;
  }
  // The log contains the (mangled) function at an address.
  void name(uint64_t address, std::string_view function) {
    trace.symbols.push_back({native_frame(address), trace.strings.intern(function), {}, 0, false});
  }
  // A launch of 10 ns and its kernel, which runs `gpu_ns`.
  void launch_with(int64_t begin, uint32_t stack, uint32_t thread = 0, int64_t gpu_ns = 10) {
    launch(begin, begin + 10, ++correlation, thread);
    trace.host.back().stack = stack;
    kernel(1000 * correlation, 1000 * correlation + gpu_ns, correlation);
  }
  uint32_t row_of(int64_t begin) const {
    for (uint32_t row = 0; row < trace.host.size(); ++row) {
      if (trace.host[row].begin_ns == begin) return row;
    }
    return analyzer::kNone;
  }
  // The stack of the launch that starts at that time.
  std::string text(int64_t begin, const analyzer::StackOptions& how = {}) {
    const analyzer::Views views(trace, {}, how);
    return call_stacks(views).text(call_stacks(views).of_call(row_of(begin)));
  }

  uint32_t correlation = 0;
  std::map<uint64_t, analyzer::FrameId> of_module;
};

}  // namespace prof::tests
