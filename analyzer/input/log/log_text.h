// Offline. Any log as text without loss: `prof dump` prints it, and tests/golden/undump converts it to a log again. One
// item per line; '#' begins a comment; docs/log_format.md has the grammar.
//
//   prof-log-text 1
//   header version=1 header_bytes=8192 block_bytes=4096 pid=42 clock=1 backing=0 start_tick=… …
//   kind 1 kernel_launch end:t duration:v …            the log's own kind table
//   page finished=0 blocks_reserved=1024 gpu_pending=0
//   counter records_dropped_busy 0
//   block events thread=1 sequence=0 base_tick=5000 in_call_api=0 in_call_tick=0 records=2 sealed
//   kernel_launch end=5100 duration=40 config=1 stream=1 depth=0
//   free 3
//   bytes 004020…                                      64 bytes of a block that is damaged or holds more than records
//   end 28672                                          bytes of the file
#pragma once

#include "analyzer/base/sink.h"
#include "analyzer/input/log/log_file.h"

#include <functional>
#include <string>
#include <string_view>

namespace prof::analyzer {

// Called now and then with the written share of the log, from 0 to 1.
using Progress = std::function<void(double)>;

void write_log_text(const LogFile& log, Sink& sink, const Progress& progress);

// "…" with C escapes: \" \\ \n \r \t, and \xNN (two digits) for control bytes and bytes that are not UTF-8.
void append_quoted(std::string& to, std::string_view text);

}  // namespace prof::analyzer
