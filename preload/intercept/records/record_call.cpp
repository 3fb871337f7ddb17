#include "preload/intercept/records/record_call.h"

#include "preload/driver/null_stream.h"
#include "preload/intercept/records/record_arguments.h"
#include "preload/intercept/records/toolkit.h"
#include "preload/intercept/records/unhooked.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/record/append.h"
#include "preload/record/thread_local.h"
#include "preload/stacks/call_stack.h"

#include <cerrno>

namespace prof::preload {

__attribute__((noinline)) void define_api_slow(Api api) {
  format::ApiDef row;
  row.id = api_id(api);
  row.name = kApiNames[index_of(api)];
  if (define(row)) g_driver_rows[index_of(api)].defined.store(t_local.epoch, std::memory_order_relaxed);
  define_unhooked();  // names that were noticed before there was a log
  define_requested_version();
}

__attribute__((noinline)) void record_call(const CallScope& scope, Api api, format::StreamId stream, uint64_t object,
                                           CUresult result) {
  note_error(result);
  format::ApiCall event;
  event.end = scope.end_tick();
  event.duration = scope.duration();
  event.api = api_id(api);
  event.stream = stream;
  event.object = object;
  event.result = static_cast<uint32_t>(result);
  emit(event);
}

__attribute__((noinline)) void record_wait(const CallScope& scope, Api api, format::StreamId stream, uint64_t object,
                                           CUresult result) {
  note_error(result);
  const format::StackId stack = stack_for(StackUse::Sync);
  if (stack == format::StackId{}) {
    record_call(scope, api, stream, object, result);
    return;
  }
  format::StackedCall event;
  event.end = scope.end_tick();
  event.duration = scope.duration();
  event.api = api_id(api);
  event.stack = stack;
  event.stream = stream;
  event.object = object;
  event.result = static_cast<uint32_t>(result);
  emit(event);
}

__attribute__((noinline)) PlainCall::PlainCall(Api api, void* frame) : scope_(api_id(api), frame) {
  if (!scope_.recording()) return;
  const int saved = errno;
  define_api(api);
  errno = saved;
}

__attribute__((noinline)) PlainCall::PlainCall(Api api, void* frame, CUstream stream, NullStream null_stream)
    : scope_(api_id(api), frame) {
  if (!scope_.recording()) return;
  const int saved = errno;
  define_api(api);
  stream_ = stream_state(stream, null_stream);
  errno = saved;
}

__attribute__((noinline)) CUresult PlainCall::leave(Api api, uint64_t object, CUresult result) {
  scope_.end();
  const int saved = errno;
  if (scope_.still_recording()) record_call(scope_, api, stream_id(stream_), object, result);
  scope_.leave();
  errno = saved;
  return result;
}

__attribute__((noinline)) CUresult PlainCall::leave(Api api, uint64_t object, CUresult result, const Arguments& said) {
  scope_.end();
  const int saved = errno;
  if (scope_.still_recording()) {
    record_arguments(scope_, said);
    record_call(scope_, api, stream_id(stream_), object, result);
  }
  scope_.leave();
  errno = saved;
  return result;
}

}  // namespace prof::preload
