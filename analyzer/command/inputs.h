// Shared by trace, summary and report: reads the inputs into a model with progress on a terminal, and prints damage and
// losses on stderr.
#pragma once

#include "analyzer/model/trace.h"

#include <memory>
#include <string>
#include <vector>

namespace prof::analyzer {

// The list, sorted by name, without files that are in it already, under the same or another name. Each of them is
// reported on stderr.
std::vector<std::string> each_file_once(const std::vector<std::string>& paths);

// Reads each file once, and puts the times of all hosts on one clock (host_clocks.h). The order of the files does not
// change the result. Of several files, those that cannot be used are left out (Trace::unusable). Throws InputError if
// none can be used, or one does not exist.
std::unique_ptr<Trace> read_inputs(const std::vector<std::string>& paths);

// Prints what was left out, every damaged place and what is not read. Returns kComplete, or kPartial if there is any.
int tell_damage(const Trace& trace);

// Throws BrokenPipe or OutputError if what was printed on stdout could not be written.
void finish_stdout();

// After this call, a write to a pipe without a reader fails with an error. Otherwise it would end the process silently.
void ignore_broken_pipes();

}  // namespace prof::analyzer
