// The recorder's options: one row of options.def each. All code of the recorder reads options here. The PROF_*
// variables are copied and parsed once per process. The library's constructor or the first hook that needs an option
// does so, whichever runs first. The program may change its environment and its working folder later. A forked child
// keeps its parent's options.
#pragma once

#include "preload/format/option_values.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

namespace option = format::option;

// Declared and never defined: a default that is not valid does not compile.
void default_is_not_valid();
template <class Type> constexpr typename Type::Value default_value(std::string_view text, std::string_view values) {
  typename Type::Value value{};
  if (!Type::read(text, values, value)) default_is_not_valid();
  return value;
}

struct Options {
#define PROF_OPTION(member, variable, Type, initial, flag, values, help) \
  option::Type::Value member = default_value<option::Type>(initial, values);
#define PROF_CHOICES(member, variable, Type, Enum, initial, flag, words, help) \
  option::Type<option::Enum>::Value member = default_value<option::Type<option::Enum>>(initial, {});
#include "preload/format/options.def"
#undef PROF_OPTION
#undef PROF_CHOICES
};

namespace detail {
extern Options g_options;
enum class Reading : uint32_t { NotYet = 0, Now, Done };
extern std::atomic<Reading> g_reading;
bool read_options_now();
}  // namespace detail

// Before the variables are read, and in a process with secure execution (AT_SECURE), these are the defaults.
inline const Options& options() { return detail::g_options; }

// Reads the variables unless that is done. No heap, no lock; keeps errno. Returns false while another thread reads
// them.
inline bool read_options_once() {
  return detail::g_reading.load(std::memory_order_acquire) == detail::Reading::Done || detail::read_options_now();
}
// Reads the variables again from `environment`, for tests in a process with one thread.
void read_options(char** environment, const Options& defaults);

// The working folder at the time when the variables were read; a relative PROF_OUTPUT is below it. It is empty if
// PROF_OUTPUT is absolute, or if the folder has no path of less than 3840 bytes.
std::string_view output_folder();
// Whether the program has another root directory than when the options were read (chroot).
bool root_changed();

// An option as it was read.
struct SetOption {
  const char* entry;     // "PROF_NAME=value" of the environment; empty: too long to be kept, and not valid
  const char* variable;  // "PROF_NAME"
  const char* values;    // the VALUES of the row
  bool valid;            // if not, the default is used
};
enum OptionRow : uint32_t {
#define PROF_OPTION(member, ...) kRow_##member,
#define PROF_CHOICES(member, ...) kRow_##member,
#include "preload/format/options.def"
#undef PROF_OPTION
#undef PROF_CHOICES
  kOptionCount
};
// The option of row `row` < kOptionCount. Returns false if its variable was not set, or was empty.
bool set_option(uint32_t row, SetOption& to);
// The row of an entry "PROF_NAME=value" of the environment; kOptionCount if there is none.
uint32_t option_row_of(const char* entry);

}  // namespace prof::preload
