// In which forms does a Chrome trace contain call stacks? Frames: events have an id ("sf") in a table of frames at the
// end of the file ("stackFrames"), in which each frame has its caller. chrome://tracing shows it, and it costs a dozen
// bytes per event. Text: events have an argument "Call stack", as in Kineto, which every viewer shows. Both: the text
// is on calls only, and in large traces only its most informative line.
#pragma once

#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/analysis/views.h"
#include "analyzer/base/sink.h"
#include "analyzer/output/chrome/event_list.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

enum class ChromeStackForm { None, Both, Frames, Text };

class ChromeStacks {
 public:
  // Total size of the texts of all calls above which `Both` omits them, in bytes.
  static constexpr uint64_t kMostText = uint64_t{32} << 20;
  ChromeStacks(const Trace& trace, const Views& views, ChromeStackForm form, uint64_t most_text = kMostText);

  bool with_frames() const { return form_ == ChromeStackForm::Both || form_ == ChromeStackForm::Frames; }
  StackId of_call(uint32_t host_row) { return stacks_.of_call(host_row); }
  StackId of_operation(const GpuOperation& operation) { return stacks_.of_operation(operation); }

  // The id of the innermost frame; 0 if there is no stack.
  uint32_t frame(StackId stack);
  // Members of `args`: `"Call stack":"…"` with the innermost frame first, or `"called from":"…"`. Empty if there is
  // nothing to add.
  const std::string& call_member(StackId stack);
  const std::string& operation_member(StackId stack);
  // Adds it to the members of an event.
  void add_of_call(StackId stack, EventMembers& members) { add(stack, call_member(stack), members); }
  void add_of_operation(StackId stack, EventMembers& members) { add(stack, operation_member(stack), members); }

  // Writes `,"stackFrames":{…}` with all frames whose ids were returned. Writes nothing if there are none.
  void write_table(Sink& sink) const;

 private:
  struct Node {
    uint32_t parent = 0;
    uint32_t row = 0;  // of MergedStacks
  };
  const std::string& text(StackId stack);
  void add(StackId stack, const std::string& member, EventMembers& members);

  CallStacks& stacks_;
  const ChromeStackForm form_;
  bool whole_ = true;  // whether texts are whole stacks
  std::vector<Node> nodes_{{}};
  std::unordered_map<uint64_t, uint32_t> children_;
  std::vector<uint32_t> frame_of_;    // by StackId: 1 + id
  std::vector<std::string> texts_;    // by StackId
  std::vector<std::string> encoded_;  // by StackId
  const std::string none_{};
};

}  // namespace prof::analyzer
