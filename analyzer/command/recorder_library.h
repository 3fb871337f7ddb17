// The recorder as prof sees it: where libprof.so is, which options it takes and what they may say.
#pragma once

#include <span>
#include <string>

namespace prof::analyzer {

struct RecorderOption {
  const char* variable;
  const char* initial;
  const char* flag;
  const char* values;  // such as "on|off" or "BYTES"
  const char* help;
  bool is_flag;  // 0|1; may stand without a value
  bool (*is_valid)(const std::string& text, const char* values);
};

// The rows of preload/format/options.def, in their order.
std::span<const RecorderOption> recorder_options();

// Empty: the recorder accepts the value.
std::string wrong_value(const RecorderOption& option, const std::string& text);

// Path of libprof.so: PROF_LIBRARY, or beside prof. Throws if there is none.
std::string find_recorder();

// PROF_OUTPUT names files, not a folder.
bool is_name_pattern(const std::string& output);

}  // namespace prof::analyzer
