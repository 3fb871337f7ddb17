// Gives prof itself access to a library of the CUDA toolkit, by exported names. No CUDA header is needed, and no
// library is linked.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

namespace prof::analyzer {

class CudaLibrary {
 public:
  // `file`: the file to open. If it is empty, "libNAME.so.MAJOR" is searched: by the loader, in $CUDA_HOME, in
  // /usr/local/cuda, and of each folder the newest. The library is never closed, because threads of CUDA libraries keep
  // running.
  CudaLibrary(std::string_view name, const std::string& file) {
    if (!file.empty()) {
      open(file);
      return;
    }
    const char* const home = std::getenv("CUDA_HOME");
    const std::string own = home != nullptr ? home : "/usr/local/cuda";
    for (const std::string& folder :
         {std::string(), own + "/lib64/", own + "/extras/CUPTI/lib64/", std::string("/usr/local/cuda/lib64/")}) {
      for (const int major : {13, 12, 11}) {
        if (open(fmt::format("{}lib{}.so.{}", folder, name, major))) return;
      }
    }
  }

  bool there() const { return handle_ != nullptr; }
  const std::string& file() const { return file_; }    // the file that was opened or tried last
  const std::string& error() const { return error_; }  // of the loader
  // Returns null if the library has no such function.
  template <class Function> Function* function(const char* name) const {
    return handle_ != nullptr ? reinterpret_cast<Function*>(dlsym(handle_, name)) : nullptr;
  }

 private:
  bool open(const std::string& file) {
    handle_ = dlopen(file.c_str(), RTLD_NOW);
    if (handle_ == nullptr) error_ = dlerror();
    file_ = file;
    return handle_ != nullptr;
  }

  void* handle_ = nullptr;
  std::string file_, error_;
};

}  // namespace prof::analyzer
