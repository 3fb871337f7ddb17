// Call stacks in a Chrome trace: as ids ("sf") into a table of frames at its end ("stackFrames"), each with its caller, which chrome://tracing
// shows and which costs a dozen bytes an event; or, like Kineto, as the text "Call stack" among each event's arguments.
#pragma once

#include "analyzer/analysis/views.h"
#include "analyzer/output/sink.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

enum class ChromeStackForm { None, Frames, Text };

class ChromeStacks {
 public:
  ChromeStacks(const Views& views, ChromeStackForm form) : stacks_(views.stacks()), form_(form) {}

  bool as_text() const { return form_ == ChromeStackForm::Text; }
  StackId of_call(uint32_t host_row) { return stacks_.of_call(host_row); }
  StackId of_operation(const GpuOperation& operation) { return stacks_.of_operation(operation); }

  // Id of the innermost frame; 0: no stack.
  uint32_t frame(StackId stack);
  // A JSON string, innermost frame first; empty: no stack.
  const std::string& text(StackId stack);

  // `,"stackFrames":{…}` of all frames that were asked for; nothing if none was.
  void write_table(Sink& sink) const;

 private:
  struct Node {
    uint32_t parent = 0;
    uint32_t row = 0;  // of MergedStacks
  };
  CallStacks& stacks_;
  const ChromeStackForm form_;
  std::vector<Node> nodes_{{}};
  std::unordered_map<uint64_t, uint32_t> children_;
  std::vector<uint32_t> frame_of_;  // by StackId: 1 + id
  std::vector<std::string> texts_;  // by StackId
};

}  // namespace prof::analyzer
