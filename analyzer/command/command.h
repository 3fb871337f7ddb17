// The verbs of the command line. Each verb has one file in this folder, with one function that adds the verb to the
// parser. verbs.cpp contains the table of these functions.
//
// A verb's function declares its options and sets a callback that assigns `run`. After parsing, run() executes the verb
// and returns the exit status below. Errors are thrown as std::runtime_error and end with status 2.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace prof::analyzer {

// Exit status of prof. Scripts may rely on these values.
inline constexpr int kComplete = 0;
inline constexpr int kPartial = 1;    // a result, but something is damaged, lost or missing: see stderr
inline constexpr int kUnusable = 2;   // no result: bad option, unreadable input, output that could not be written
inline constexpr int kFailedIf = 3;   // a result, and a --fail-if was met
inline constexpr int kUndecided = 4;  // a result, and no --fail-if was met, but at least one could not be decided

using Run = std::function<int()>;

inline constinit const char* built_commit = "unknown";  // of the sources of this program; main.cpp sets it

void add_record(CLI::App& app, Run& run);
// Removes the "--" between the options of `record` or `doctor` and the program. The parser would not assign the program
// to any verb.
void drop_separator(std::vector<std::string>& words);
void add_doctor(CLI::App& app, Run& run);
void add_check(CLI::App& app, Run& run);
void add_dump(CLI::App& app, Run& run);
void add_page(CLI::App& app, Run& run);
void add_trace(CLI::App& app, Run& run);
void add_export(CLI::App& app, Run& run);
void add_summary(CLI::App& app, Run& run);
void add_report(CLI::App& app, Run& run);
void add_blame(CLI::App& app, Run& run);
void add_symbolize(CLI::App& app, Run& run);
void add_devices(CLI::App& app, Run& run);
void add_diff(CLI::App& app, Run& run);
void add_ctl(CLI::App& app, Run& run);
void add_top(CLI::App& app, Run& run);
void add_help(CLI::App& app, Run& run);
void add_version(CLI::App& app, Run& run);

}  // namespace prof::analyzer
