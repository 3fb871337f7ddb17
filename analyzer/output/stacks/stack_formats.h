// A call tree (model/call_tree.h) in the formats of other tools, one file each. exporters.def lists the formats and
// their readers.
#pragma once

#include "analyzer/base/sink.h"
#include "analyzer/model/call_tree.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace prof::analyzer {

struct StackFileInfo {
  std::string title;
  uint64_t start_realtime_ns = 0;
  int64_t duration_ns = 0;
};

void write_folded(const CallTree& tree, const StackFileInfo& info, Sink& sink);  // the lines have no place for `info`
void write_pprof(const CallTree& tree, const StackFileInfo& info, Sink& sink);
void write_speedscope(const CallTree& tree, const StackFileInfo& info, Sink& sink);
void write_flame_page(const CallTree& tree, const StackFileInfo& info, Sink& sink);

// A frame as torch.autograd.profiler's export_stacks() writes it: blanks, tabs, line ends and semicolons become "_".
std::string folded_frame(std::string_view text);

// Compresses the bytes as one gzip member, whatever the name of the file is.
std::string gzip_bytes(std::string_view bytes);

}  // namespace prof::analyzer
