// Built by the tests with clang's or gcc's AddressSanitizer: heap use, threads, an exception, launches. With "overflow"
// the sanitizer reports an error.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

int main(int argc, char**) {
  std::vector<std::string> words;
  std::thread([&] {
    for (int i = 0; i < 1000; ++i) words.push_back(std::to_string(i));
  }).join();
  try {
    throw std::runtime_error(words.back());
  } catch (const std::exception& error) {
    std::printf("caught %s\n", error.what());
  }
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return 1;
  using Init = int (*)(unsigned);
  std::printf("cuInit %d\n", reinterpret_cast<Init>(dlsym(driver, "cuInit"))(0));
  if (argc > 1) {
    volatile char* const bytes = static_cast<volatile char*>(std::malloc(10));
    bytes[10] = 1;
    std::free(const_cast<char*>(bytes));
  }
  return 11;
}
