// Call stacks in a Chrome trace: as ids ("sf") into a table of frames at its end ("stackFrames"), each with its caller, which chrome://tracing
// shows and which costs a dozen bytes an event; like Kineto, as the text "Call stack" among each event's arguments, which every viewer
// shows; or both, the text on calls alone, and of large traces only its most telling line.
#pragma once

#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/analysis/views.h"
#include "analyzer/base/sink.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

enum class ChromeStackForm { None, Both, Frames, Text };

class ChromeStacks {
 public:
  // Texts of all calls together, above which `Both` leaves them out.
  static constexpr uint64_t kMostText = uint64_t{32} << 20;
  ChromeStacks(const Trace& trace, const Views& views, ChromeStackForm form, uint64_t most_text = kMostText);

  bool with_frames() const { return form_ == ChromeStackForm::Both || form_ == ChromeStackForm::Frames; }
  StackId of_call(uint32_t host_row) { return stacks_.of_call(host_row); }
  StackId of_operation(const GpuOperation& operation) { return stacks_.of_operation(operation); }

  // Id of the innermost frame; 0: no stack.
  uint32_t frame(StackId stack);
  // Members of `args`, `"Call stack":"…"` with the innermost frame first, or `"called from":"…"`; empty: nothing is to be said.
  const std::string& call_member(StackId stack);
  const std::string& operation_member(StackId stack);

  // `,"stackFrames":{…}` of all frames that were asked for; nothing if none was.
  void write_table(Sink& sink) const;

 private:
  struct Node {
    uint32_t parent = 0;
    uint32_t row = 0;  // of MergedStacks
  };
  const std::string& text(StackId stack);

  CallStacks& stacks_;
  const ChromeStackForm form_;
  bool whole_ = true;  // texts are whole stacks
  std::vector<Node> nodes_{{}};
  std::unordered_map<uint64_t, uint32_t> children_;
  std::vector<uint32_t> frame_of_;  // by StackId: 1 + id
  std::vector<std::string> texts_;  // by StackId
  const std::string none_{};
};

}  // namespace prof::analyzer
