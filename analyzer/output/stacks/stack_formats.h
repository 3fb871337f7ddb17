// A tree of calls (model/call_tree.h) in the forms that other tools read, one file each:
//
//   folded      root;child;leaf 42    lines, for flamegraph.pl and everything like it (folded_stacks.cpp)
//   pprof       gzip of a protobuf    `go tool pprof`, pprof                          (pprof.cpp)
//   speedscope  JSON                  speedscope.app                                  (speedscope.cpp)
//   html        a flame graph         any browser, without a network                  (flame_page.cpp)
#pragma once

#include "analyzer/base/sink.h"
#include "analyzer/model/call_tree.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace prof::analyzer {

enum class StackFormat { Folded, Pprof, Speedscope, Html };

struct StackFileInfo {
  std::string title;
  uint64_t start_realtime_ns = 0;
  int64_t duration_ns = 0;
};

void write_folded(const CallTree& tree, Sink& sink);
void write_pprof(const CallTree& tree, const StackFileInfo& info, Sink& sink);
void write_speedscope(const CallTree& tree, const StackFileInfo& info, Sink& sink);
void write_flame_page(const CallTree& tree, const StackFileInfo& info, Sink& sink);
void write_stacks(const CallTree& tree, StackFormat format, const StackFileInfo& info, Sink& sink);

// A frame as torch.autograd.profiler's export_stacks() writes it: blanks, tabs, line ends and semicolons become "_".
std::string folded_frame(std::string_view text);

// The bytes as one member of a gzip file, whatever the name of the file is.
std::string gzip_bytes(std::string_view bytes);

}  // namespace prof::analyzer
