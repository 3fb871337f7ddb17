// The recorder as prof sees it: where libprof.so is, which options it takes and what they may say.
#pragma once

#include <span>
#include <string>

namespace prof::analyzer {

enum class OptionType { Flag, Count, Bytes, Seconds, Text, Choice, Numbers };

struct RecorderOption {
  const char* variable;
  OptionType type;
  const char* initial;
  const char* flag;
  const char* values;
  const char* help;
};

// The rows of preload/format/options.def, in their order.
std::span<const RecorderOption> recorder_options();

// Empty: the recorder will understand it.
std::string wrong_value(const RecorderOption& option, const std::string& text);

// Path of libprof.so: PROF_LIBRARY, or beside prof. Throws if there is none.
std::string find_recorder();

// PROF_OUTPUT names files, not a folder.
bool is_name_pattern(const std::string& output);

}  // namespace prof::analyzer
