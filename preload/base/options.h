// The recorder's options, read from PROF_* variables once per life. The list is options.def.
#pragma once

#include <cstdint>

namespace prof::preload {

using OptionFlag = bool;
using OptionCount = uint64_t;
using OptionBytes = uint64_t;
using OptionSeconds = uint64_t;  // in nanoseconds
using OptionText = const char*;  // never null; lives as long as the life
using OptionChoice = const char*;
using OptionNumbers = const char*;  // "all", or a list such as "0,2-3" (format/number_list.h)

struct Options {
#define PROF_OPTION(member, variable, type, initial, flag, values, help) Option##type member{};
#include "preload/format/options.def"
#undef PROF_OPTION
};

const Options& options();

// As an option of type Seconds is read. False: it is none.
bool read_seconds(const char* text, uint64_t& ns);
bool read_bytes(const char* text, uint64_t& bytes);

// Reads the environment. A value that makes no sense is reported once on stderr and replaced by the default.
void read_options(char** environment);

}  // namespace prof::preload
