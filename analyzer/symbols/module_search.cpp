#include "analyzer/symbols/module_search.h"

#include "analyzer/symbols/elf_file.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace prof::analyzer {

namespace {

std::string_view folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view(".") : path.substr(0, slash);
}
std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_folder(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

class Search {
 public:
  Search(const ModuleName& module, const SymbolSearch& options) : module_(module), options_(options) {
    constexpr std::string_view kDeleted = " (deleted)";
    if (module_.path.ends_with(kDeleted)) module_.path.resize(module_.path.size() - kDeleted.size());
  }

  ModuleFiles run() {
    for (const std::string& each : options_.symbol_path) {
      if (complete()) break;
      if (is_folder(each)) {
        in_folder(each);
      } else {
        take(each);
      }
    }
    if (!module_.path.starts_with('[')) below("");  // "[vdso]" is no file
    if (!options_.sysroot.empty() && !complete()) below(options_.sysroot);
    if (options_.debuginfod && !complete()) from_server();
    say();
    return files_;
  }

 private:
  bool complete() const { return !files_.lines.empty(); }

  void in_folder(const std::string& folder) {
    if (!module_.path.empty()) {
      take(folder + "/" + module_.path);
      take(fmt::format("{}/{}", folder, name_of(module_.path)));
      take(fmt::format("{}/{}.debug", folder, name_of(module_.path)));
    }
    by_build_id(folder);
  }

  void by_build_id(const std::string& folder) {
    if (module_.build_id.size() < 3) return;
    const std::string name =
        fmt::format("{}/.build-id/{}/{}", folder, module_.build_id.substr(0, 2), module_.build_id.substr(2));
    take(name + ".debug");
    take(name);
  }

  void below(const std::string& root) {
    if (complete()) return;
    root_ = root;
    take(root + module_.path, true);
    by_build_id(root + options_.debug_folder);
  }

  // Uses the file if it is the module's. `recorded`: the file has the module's recorded path.
  void take(const std::string& path, bool recorded = false, const uint32_t* crc = nullptr) {
    if (complete() || path.empty()) return;
    std::string why;
    const std::unique_ptr<ElfFile> file = ElfFile::open(path, why);
    if (file == nullptr) {
      if (recorded)
        said_ = access(path.c_str(), F_OK) == 0 ? fmt::format("{}: {}", path, why) : "the file no longer exists";
      return;
    }
    if (!is_the_module(*file, recorded, crc)) return;
    if (files_.functions.empty() || (!has_symbol_table_ && file->has_symbol_table())) {
      files_.functions = path;
      has_symbol_table_ = file->has_symbol_table();
    }
    if (file->has_debug_info()) files_.lines = path;
    if (!complete()) linked(*file);
  }

  bool is_the_module(const ElfFile& file, bool recorded, const uint32_t* crc) {
    const std::string id = file.build_id();
    if (!module_.build_id.empty() && !id.empty()) {
      if (id == module_.build_id) return true;
      said_ = fmt::format("{} is another build ({}, recorded {})", file.path(), id.substr(0, 12),
                          module_.build_id.substr(0, 12));
      return false;
    }
    if (crc != nullptr) {
      uint32_t sum = 0;
      return file_crc(file.path(), sum) && sum == *crc;
    }
    struct stat status {};
    if (!module_.build_id.empty() || stat(file.path().c_str(), &status) != 0) return false;
    if (module_.file_bytes == 0) return recorded;  // nothing to compare with
    const bool same =
        module_.file_bytes == static_cast<uint64_t>(status.st_size) &&
        (module_.file_time == 0 || !recorded || module_.file_time == static_cast<uint64_t>(status.st_mtime));
    if (!same) said_ = fmt::format("{} has changed since", file.path());
    return same;
  }

  void linked(const ElfFile& file) {
    uint32_t crc = 0;
    const std::string link = file.debug_link(&crc);
    if (link.empty()) return;
    const std::string folder(folder_of(file.path()));
    const std::string inside = folder.starts_with(root_) ? folder.substr(root_.size()) : folder;
    for (const std::string& each : {fmt::format("{}/{}", folder, link), fmt::format("{}/.debug/{}", folder, link),
                                    fmt::format("{}{}{}/{}", root_, options_.debug_folder, inside, link)}) {
      if (each != file.path()) take(each, false, &crc);
    }
  }

  void from_server() {
    if (module_.build_id.empty()) return;
    std::string why;
    const std::string path = ask_debuginfod(module_.build_id, why);
    if (path.empty()) {
      said_ = "debuginfod: " + why;
    } else {
      take(path);
    }
  }

  void say() {
    if (complete()) return;
    if (files_.functions.empty()) {
      files_.problem = module_.path.starts_with('[') ? "not a file" : said_.empty() ? "no file found" : said_;
    } else {
      files_.problem =
          has_symbol_table_ ? "no debug information found" : "stripped: no debug information, exported functions only";
    }
  }

  ModuleName module_;
  const SymbolSearch& options_;
  ModuleFiles files_;
  bool has_symbol_table_ = false;
  std::string root_;  // the folder below which it searches now
  std::string said_;  // why the last file with the module's name could not be used
};

}  // namespace

ModuleFiles find_module_files(const ModuleName& module, const SymbolSearch& search) {
  return Search(module, search).run();
}

std::string ask_debuginfod(const std::string& build_id, std::string& why) {
  // Loaded only on demand, because the client loads an HTTP library.
  static void* const library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    why = "libdebuginfod.so.1 is not installed";
    return {};
  }
  const auto begin = reinterpret_cast<void* (*)()>(dlsym(library, "debuginfod_begin"));
  const auto find =
      reinterpret_cast<int (*)(void*, const unsigned char*, int, char**)>(dlsym(library, "debuginfod_find_debuginfo"));
  const auto end = reinterpret_cast<void (*)(void*)>(dlsym(library, "debuginfod_end"));
  if (begin == nullptr || find == nullptr || end == nullptr) {
    why = "libdebuginfod.so.1 lacks its functions";
    return {};
  }
  void* const client = begin();
  if (client == nullptr) {
    why = "no client";
    return {};
  }
  char* path = nullptr;
  const int fd = find(client, reinterpret_cast<const unsigned char*>(build_id.c_str()), 0, &path);
  end(client);
  if (fd < 0) {
    why = std::getenv("DEBUGINFOD_URLS") == nullptr ? "DEBUGINFOD_URLS is not set" : std::strerror(-fd);
    return {};
  }
  close(fd);
  std::string found = path == nullptr ? "" : path;
  std::free(path);
  return found;
}

}  // namespace prof::analyzer
