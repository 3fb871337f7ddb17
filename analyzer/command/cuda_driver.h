// Gives prof itself access to the CUDA driver of this machine, by exported names. No CUDA header is needed, and no
// library is linked.
#pragma once

#include <dlfcn.h>

#include <string>

namespace prof::analyzer {

class CudaDriver {
 public:
  CudaDriver() : handle_(dlopen("libcuda.so.1", RTLD_NOW)) {}
  bool there() const { return handle_ != nullptr; }

  // Returns false if the function is missing or did not succeed. error() names the function and the reason.
  template <class... Args> bool call(const char* name, Args... args) {
    using Function = int (*)(Args...);
    const auto function = reinterpret_cast<Function>(dlsym(handle_, name));
    const int result = function != nullptr ? function(args...) : -1;
    if (result != 0) describe(name, function != nullptr ? name_of(result) : "it is missing");
    return result == 0;
  }
  const std::string& error() const { return error_; }

 private:
  void describe(const char* name, const std::string& reason) {
    error_ = name;
    error_ += ": " + reason;
  }
  std::string name_of(int result) const {
    const char* text = nullptr;
    const auto name = reinterpret_cast<int (*)(int, const char**)>(dlsym(handle_, "cuGetErrorName"));
    return name != nullptr && name(result, &text) == 0 && text != nullptr ? text : "error " + std::to_string(result);
  }

  void* handle_;
  std::string error_;
};

}  // namespace prof::analyzer
