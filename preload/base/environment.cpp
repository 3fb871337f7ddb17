#include "preload/base/environment.h"

// Weak, so that its address is null until the loader has relocated this library. Code of another library that runs
// while libraries are relocated (a resolver of an indirect function) may call getenv(), which is ours.
extern char** environ __attribute__((weak));

namespace prof::preload {

char** environment() { return &environ != nullptr ? environ : nullptr; }

const char* environment_variable(std::string_view name) {
  for (char** at = environment(); at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry(*at);
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return *at + name.size() + 1;
  }
  return nullptr;
}

}  // namespace prof::preload
