// What trace, summary and report share: reading the inputs into a model with progress on a terminal, and saying on stderr
// what is damaged or missing.
#pragma once

#include "analyzer/model/trace.h"

#include <memory>
#include <string>
#include <vector>

namespace prof::analyzer {

// Throws InputError where a file is no log at all.
std::unique_ptr<Trace> read_inputs(const std::vector<std::string>& paths);

// Prints every damaged place; kComplete, or kPartial if there is any.
int tell_damage(const Trace& trace);

// A pipe whose reader has gone then fails a write with an error instead of ending the process without a word.
void ignore_broken_pipes();

}  // namespace prof::analyzer
