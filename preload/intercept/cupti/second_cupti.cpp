#include "preload/intercept/cupti/second_cupti.h"

#include "preload/base/about.h"
#include "preload/base/joined_text.h"
#include "preload/base/libc.h"
#include "preload/base/messages.h"
#include "preload/capture/cupti/cupti_front.h"
#include "preload/capture/cupti/cupti_inside.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/log/count.h"
#include "preload/record/texts.h"
#include "preload/record/thread_local.h"

#include <atomic>
#include <string_view>

namespace prof::preload {
namespace {

std::atomic<bool> g_noticed{false};

void tell(std::string_view who, std::string_view remedy) {
  const EventScope scope;
  count(format::LossCounter::second_cupti);
  if (scope.recording()) define_meta("second_cupti", who);
  static std::atomic<bool> said{false};
  say(said, "another CUPTI in the program (", who,
      ") comes after the one that takes GPU times, and the driver admits the first alone: that profiler gets no "
      "records. ",
      remedy);
}

// The file around an address. Empty: not known, or PROF_ABOUT leaves paths out.
std::string_view file_around(const void* address) {
  Dl_info object{};
  if (!may_tell(option::About::Paths) || prof_libc_dladdr == nullptr || prof_libc_dladdr(address, &object) == 0)
    return {};
  if (object.dli_fname == nullptr) return {};
  return object.dli_fname;
}

}  // namespace

void notice_second_library(const void* function, const char* name, const void* caller) {
  if (!cupti_front_open() || cupti_front_has(function) || g_noticed.exchange(true)) return;
  const KeepErrno keep;
  const std::string_view library = file_around(function), user = file_around(caller);
  const bool known = !library.empty() && !user.empty();
  const JoinedText who =
      known ? JoinedText{library, ", by ", name, ", called by ", user} : JoinedText{"a second libcupti, by ", name};
  const JoinedText remedy = known ? JoinedText{"PROF_CUPTI=", library, " makes both use that one"}
                                  : JoinedText{"PROF_CUPTI with its path makes both use that one"};
  tell(who.view(), remedy.view());
}

void look_for_second_cupti(const void* caller) {
  if (!cupti_front_open() || g_noticed.load(std::memory_order_relaxed)) return;
  static std::atomic<const void*> looked_into{nullptr};
  Dl_info object{};
  if (prof_libc_dladdr == nullptr || prof_libc_dladdr(caller, &object) == 0) return;
  if (looked_into.exchange(object.dli_fbase) == object.dli_fbase) return;
  const KeepErrno keep;
  if (!has_own_cupti(caller) || g_noticed.exchange(true)) return;
  const std::string_view path = file_around(caller);
  const JoinedText who =
      path.empty() ? JoinedText{"linked into a library of it"} : JoinedText{path, ", linked into it"};
  tell(who.view(), "PROF_GPU=off leaves CUPTI to it");
}

}  // namespace prof::preload
