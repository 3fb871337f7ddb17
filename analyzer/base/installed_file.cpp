#include "analyzer/base/installed_file.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace prof::analyzer {

InstalledFile find_installed(std::string_view name, const std::string& program) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(program).parent_path();
  InstalledFile file;
  // The configured folder may be absolute: then `/` takes it as it is.
  for (const fs::path& libraries : {folder, folder / ".." / PROF_INSTALL_LIBDIR, folder / "../lib", folder / "../lib64",
                                    folder / "../lib" / PROF_TRIPLET}) {
    const std::string path = (libraries / name).lexically_normal();
    if (std::find(file.looked.begin(), file.looked.end(), path) != file.looked.end()) continue;
    file.looked.push_back(path);
    if (access(path.c_str(), R_OK) == 0) {
      file.path = path;
      break;
    }
  }
  return file;
}

InstalledFile find_installed(std::string_view name) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) {  // no /proc: the path that started the program, which the kernel keeps in its memory
    program = fs::canonical(reinterpret_cast<const char*>(getauxval(AT_EXECFN)));
  }
  return find_installed(name, program);
}

}  // namespace prof::analyzer
