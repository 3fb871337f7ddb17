// The verbs of the command line: each has one file in this folder with one function that adds it to the parser. main.cpp
// holds the table of these functions and nothing else.
//
// A verb's function declares its options and sets a callback that assigns `run`; the work itself happens after parsing,
// in run(), which returns the exit status below. Errors are thrown as std::runtime_error and end with status 2.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace prof::analyzer {

// Exit status of prof: what a script may rely on.
inline constexpr int kComplete = 0;
inline constexpr int kPartial = 1;   // an answer, but something is damaged, lost or missing; stderr says what
inline constexpr int kUnusable = 2;  // no answer: bad option, unreadable input, output that could not be written
inline constexpr int kFailedIf = 3;  // an answer, and a --fail-if was met

using Run = std::function<int()>;

void add_record(CLI::App& app, Run& run);
// Takes the "--" between the options of `record` or `doctor` and the program out: the parser would give the program to no verb.
void drop_separator(std::vector<std::string>& words);
void add_doctor(CLI::App& app, Run& run);
void add_check(CLI::App& app, Run& run);
void add_dump(CLI::App& app, Run& run);
void add_trace(CLI::App& app, Run& run);
void add_summary(CLI::App& app, Run& run);
void add_report(CLI::App& app, Run& run);
void add_symbolize(CLI::App& app, Run& run);
void add_devices(CLI::App& app, Run& run);
void add_diff(CLI::App& app, Run& run);
void add_ctl(CLI::App& app, Run& run);

}  // namespace prof::analyzer
