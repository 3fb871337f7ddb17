#include "preload/intercept/records/record_arguments.h"

#include "preload/base/about.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/log/count.h"
#include "preload/record/append.h"

#include <cstring>

namespace prof::preload {

__attribute__((noinline)) void record_arguments(const CallScope& scope, const Arguments& said) {
  format::CallArguments event;
  if (said.file != nullptr && may_tell(option::About::Paths)) {
    const size_t size = std::strlen(said.file);
    event.file = {said.file, size < format::kMaxTextBytes ? size : format::kMaxTextBytes};
    if (event.file.size() != size) count(format::LossCounter::text_cut);
  }
  event.flags = said.flags;
  event.count = said.count;
  event.bytes = said.bytes;
  event.target = said.target;
  if (event.flags == 0 && event.count == 0 && event.bytes == 0 && event.target == 0 && event.file.empty()) return;
  event.time = scope.end_tick();
  emit(event);
}

}  // namespace prof::preload
