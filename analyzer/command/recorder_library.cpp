// See recorder_library.h.
#include "analyzer/command/recorder_library.h"

#include "preload/format/option_values.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <type_traits>

namespace prof::analyzer {

namespace {

namespace fs = std::filesystem;
namespace option = format::option;

template <class Type> bool is_valid(const std::string& text, const char* values) {
  typename Type::Value value{};
  return Type::read(text, values, value);
}

constexpr RecorderOption kOptions[] = {
#define PROF_OPTION(member, variable, Type, initial, flag, values, help) \
  {variable, initial, flag, values, help, std::is_same_v<option::Type, option::Flag>, is_valid<option::Type>},
#define PROF_CHOICES(member, variable, Type, Enum, initial, flag, words, help) \
  {variable, initial, flag, option::ValuesOf<option::Enum>::text(), help, false, is_valid<option::Type<option::Enum>>},
#include "preload/format/options.def"
#undef PROF_OPTION
#undef PROF_CHOICES
};

}  // namespace

std::span<const RecorderOption> recorder_options() { return kOptions; }

std::string wrong_value(const RecorderOption& option, const std::string& text) {
  if (option.is_valid(text, option.values)) return "";
  return fmt::format("'{}' is not valid, expected {}", text, option.values);
}

std::string find_recorder() {
  const char* const given = std::getenv("PROF_LIBRARY");
  if (given != nullptr && *given != '\0') {
    if (access(given, R_OK) != 0)
      throw std::runtime_error(fmt::format("PROF_LIBRARY={}: {}; set it to the path of libprof.so, or unset it", given,
                                           std::strerror(errno)));
    return fs::absolute(given);
  }
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  std::string looked;
  for (const char* const place :
       {"libprof.so", "../lib/libprof.so", "../" PROF_INSTALL_LIBDIR "/libprof.so", "../preload/libprof.so"}) {
    const fs::path path = (folder / place).lexically_normal();
    if (access(path.c_str(), R_OK) == 0) return path;
    looked += "\n  " + path.string();
  }
  throw std::runtime_error("libprof.so is not beside prof; looked for" + looked + "\nset PROF_LIBRARY to its path");
}

bool is_name_pattern(const std::string& output) {
  return output.find('%') != std::string::npos || output.ends_with(".plog");
}

}  // namespace prof::analyzer
