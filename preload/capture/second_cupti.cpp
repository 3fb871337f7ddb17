#include "preload/capture/second_cupti.h"

#include "preload/capture/cupti_front.h"
#include "preload/capture/cupti_inside.h"
#include "preload/runtime/libc.h"
#include "preload/runtime/recorder.h"
#include "preload/runtime/wanted.h"

#include <atomic>
#include <cstring>
#include <initializer_list>

namespace prof::preload {
namespace {

std::atomic<bool> g_noticed{false};

// Parts one after the other, cut where it is full.
class Text {
 public:
  Text(std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts) {
      const size_t size = part.size() < sizeof text_ - size_ ? part.size() : sizeof text_ - size_;
      if (size != 0) std::memcpy(text_ + size_, part.data(), size);
      size_ += size;
    }
  }
  std::string_view view() const { return {text_, size_}; }

 private:
  char text_[2048];
  size_t size_ = 0;
};

void tell(std::string_view who, std::string_view remedy) {
  const EventScope scope;
  count(format::Counter::second_cupti);
  if (scope.recording()) define_meta("second_cupti", who);
  static std::atomic<bool> said{false};
  say(said, "another CUPTI in the program (", who,
      ") comes behind the one that takes GPU times, and the driver lets in the first alone: that profiler gets no "
      "records. ",
      remedy);
}

// The file around an address; "": unknown, or not to be told.
std::string_view file_around(const void* address) {
  Dl_info object{};
  if (!may_tell("paths") || prof_libc_dladdr == nullptr || prof_libc_dladdr(address, &object) == 0) return {};
  if (object.dli_fname == nullptr) return {};
  return object.dli_fname;
}

}  // namespace

void notice_second_library(const void* function, const char* name, const void* caller) {
  if (!cupti_front_open() || cupti_front_has(function) || g_noticed.exchange(true)) return;
  const KeepErrno keep;
  const std::string_view library = file_around(function), user = file_around(caller);
  const bool known = !library.empty() && !user.empty();
  const Text who = known ? Text{library, ", by ", name, ", called by ", user} : Text{"a second libcupti, by ", name};
  const Text remedy = known ? Text{"PROF_CUPTI=", library, " makes both use that one"}
                            : Text{"PROF_CUPTI with its path makes both use that one"};
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
  const Text who = path.empty() ? Text{"linked into a library of it"} : Text{path, ", linked into it"};
  tell(who.view(), "PROF_GPU=off leaves CUPTI to it");
}

}  // namespace prof::preload
