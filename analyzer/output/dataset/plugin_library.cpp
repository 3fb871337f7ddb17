#include "analyzer/output/dataset/plugin_library.h"

#include "analyzer/base/installed_file.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace prof::analyzer::dataset {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHowToInstall =
    "scripts/setup --parquet, and then a new build of prof, provides it; all other formats work without it";

// RTLD_LOCAL: the plug-in's libraries are found by its own references only.
void* load(const fs::path& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const char* const why = dlerror();
  throw PluginError(fmt::format("{}: cannot be loaded: {}\n{}", path.string(), why == nullptr ? "unknown error" : why,
                                kHowToInstall));
}

const prof_table_plugin& find() {
  const InstalledFile file = find_installed("prof/parquet/libprof_parquet.so");
  if (file.path.empty())
    throw PluginError(fmt::format("Parquet and Arrow are not installed: none of these files exists:\n  {}\n{}",
                                  fmt::join(file.looked, "\n  "), kHowToInstall));
  const fs::path place = fs::path(file.path).parent_path();
  std::error_code error;
  // The loader takes a library that is loaded already before it searches one. So these are loaded by their paths.
  std::vector<fs::path> needed;
  for (const auto& entry : fs::directory_iterator(place, error)) {
    if (entry.path().filename().string().find(".so.") != std::string::npos) needed.push_back(entry.path());
  }
  std::sort(needed.begin(), needed.end());  // libarrow before libparquet, which needs it
  for (const fs::path& path : needed) load(path);
  void* const library = load(file.path);
  const auto get = reinterpret_cast<decltype(&get_prof_table_plugin)>(dlsym(library, "get_prof_table_plugin"));
  const prof_table_plugin* const plugin = get == nullptr ? nullptr : get();
  if (plugin == nullptr || plugin->version != PROF_TABLE_PLUGIN_VERSION)
    throw PluginError(fmt::format("{} is of another version of prof; {}", file.path, kHowToInstall));
  return *plugin;
}

}  // namespace

const prof_table_plugin& table_plugin() {
  static const prof_table_plugin& plugin = find();
  return plugin;
}

}  // namespace prof::analyzer::dataset
