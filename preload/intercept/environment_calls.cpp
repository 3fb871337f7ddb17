// getenv() and secure_getenv(). NVTX finds a tool by the variable NVTX_INJECTION64_PATH, which each shared object reads
// at its first use of NVTX. The answer is this library; the environment itself stays as it is. So clearenv() changes
// nothing, and programs that are started do not inherit the variable. A program that sets the variable itself gets its
// own value; NVTX then finds this library by dlsym (dlsym_answer.cpp). Every other name is libc's.
#include "preload/base/environment.h"
#include "preload/base/libc.h"
#include "preload/lifecycle/load.h"

#include <sys/auxv.h>

#include <cstring>

namespace prof::preload {
namespace {

using GetVariable = char* (*)(const char*);

// The next functions after ours. They are found when the library is loaded, not at the first call, because an allocator
// may read its options inside the first malloc(), in which dlvsym() must not be called. Until then, the environment is
// read here.
GetVariable g_next_getenv = nullptr, g_next_secure_getenv = nullptr;
const char* g_injection_at_load = nullptr;

__attribute__((constructor)) void find_next_getenv() {
  g_next_secure_getenv = reinterpret_cast<GetVariable>(next_function("secure_getenv", "GLIBC_2.17"));
  g_next_getenv = reinterpret_cast<GetVariable>(next_function("getenv", PROF_OLDEST_GLIBC));
  g_injection_at_load = environment_variable(kNvtxInjection);
}

char* injection(const char* name) {
  if (name[0] != 'N' || std::strcmp(name, kNvtxInjection) != 0) [[likely]]
    return nullptr;
  const char* const now = environment_variable(kNvtxInjection);
  const bool set_by_program = now != nullptr && now != g_injection_at_load;
  return set_by_program ? nullptr : const_cast<char*>(nvtx_injection());
}

char* read_variable(const char* name) { return const_cast<char*>(environment_variable(name)); }

}  // namespace
}  // namespace prof::preload

extern "C" {

__attribute__((visibility("hidden"), used)) char* prof_getenv(const char* name) {
  using namespace prof::preload;
  if (char* const answer = injection(name); answer != nullptr) [[unlikely]]
    return answer;
  return g_next_getenv != nullptr ? g_next_getenv(name) : read_variable(name);
}

__attribute__((visibility("hidden"), used)) char* prof_secure_getenv(const char* name) {
  using namespace prof::preload;
  if (char* const answer = injection(name); answer != nullptr) [[unlikely]]
    return answer;
  if (g_next_secure_getenv != nullptr) return g_next_secure_getenv(name);
  return getauxval(AT_SECURE) == 0 ? read_variable(name) : nullptr;
}
}

PROF_EXPORT(getenv, "@@" PROF_OLDEST_GLIBC);
PROF_EXPORT(secure_getenv, "@@GLIBC_2.17");
