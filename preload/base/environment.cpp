#include "preload/base/environment.h"

extern char** environ;

namespace prof::preload {

char** environment() { return environ; }

const char* environment_variable(std::string_view name) {
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry(*at);
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return *at + name.size() + 1;
  }
  return nullptr;
}

}  // namespace prof::preload
