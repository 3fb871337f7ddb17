// What in this process reaches the driver past the hooks, or did until it was bound to them? The log gets it as facts,
// so that a report can give the reason for launches that no hook saw. This code runs in the program.
#pragma once

#include <cstdint>
#include <string_view>

extern "C" {
// Written by dlopen.S: opens with RTLD_DEEPBIND, and opens in another namespace than the program's.
__attribute__((visibility("hidden"))) extern uint32_t prof_deep_opens, prof_namespace_opens;
// The number of opens with RTLD_DEEPBIND after which libraries were bound to the hooks (deep_binding.h); dlsym.S
// compares it with the first one.
__attribute__((visibility("hidden"))) extern uint32_t prof_deep_opens_bound;
}

namespace prof::preload {

enum class Bypass : uint32_t {
  DeepBound,     // a library opened with RTLD_DEEPBIND, bound to the hooks since
  DeepNotBound,  // the same, and the system refused to change its references
  Audited,       // an auditor (LD_AUDIT) replaced a function and called past the hook until now
  NotAudited,    // the same, and it cannot be called through the hook
  Count
};

// Notes it once. The name, of a library or function, is copied.
void note_bypass(Bypass which, std::string_view name);

// Writes what was noted and is not in this recording's log yet. Any thread; opens a scope of its own.
void describe_bypasses();

}  // namespace prof::preload
