// Where is libprof.so, which options does it take, and which values do they accept?
#pragma once

#include <CLI/CLI.hpp>

#include <span>
#include <string>
#include <vector>

namespace prof::analyzer {

struct RecorderOption {
  const char* variable;
  const char* initial;
  const char* flag;
  const char* values;  // such as "on|off" or "BYTES"
  const char* help;
  bool is_flag;  // 0|1; may be given without a value
  bool (*is_valid)(const std::string& text, const char* values);
  bool (*is_too_small)(const std::string& text);  // the recorder would use a larger value

  // The words among the values: "on", "off"; without placeholders such as BYTES.
  std::vector<std::string> words() const;
};

// The rows of preload/format/options.def, in order.
std::span<const RecorderOption> recorder_options();

// Returns why the recorder refuses the value; empty if it accepts the value.
std::string wrong_value(const RecorderOption& option, const std::string& text);
// Accepts what the recorder accepts and does not enlarge.
CLI::Validator value_of(const RecorderOption& option);

// Path of libprof.so: PROF_LIBRARY, or in the folder of prof. Throws std::runtime_error if there is none.
std::string find_recorder();

// Whether PROF_OUTPUT is a pattern for file names instead of a folder.
bool is_name_pattern(const std::string& output);

}  // namespace prof::analyzer
