// A program that profiles itself with CUPTI, by the global or the subscriber-scoped API, in the order of its arguments.
// It prints what each call of CUPTI answers and what CUPTI delivered, without numbers that differ from run to run, so
// that two runs can be compared. The program gives it `work`: N kernels on a stream, a copy to the GPU and a fill,
// waited for. tests/e2e/gpu/ runs it on the simulated GPU, scripts/gpu-check on a real one.
//
//   work            works and flushes          work_alone   works
//   flush, force    cuptiActivityFlushAll      say          prints what was delivered since the last say
//   finalize        cuptiFinalize              profiler     starts a recording (cuProfilerStart)
// Global:
//   register clock enable start(register, enable) stop(disable, flush) time push pop dropped
// Of the subscriber:
//   subscribe subscribe_v2 subscribe_several second(subscribes once more) unsubscribe
//   register_v2 enable_v2 dump_v2 start_v2(register, enable) stop_v2(disable, flush) disable_v2
//   user(user-defined records) no_user fields_v2(enables with fields) fewer_fields_v2 wrong_fields_v2
//   unknown_fields_v2 all_fields_v2
//   clock_v2 system_v2 attributes_v2 time_v2 push_v2 pop_v2 dropped_v2 kinds_v2
//   only_launches_v2 not_launches_v2(enable driver calls so) call_v2(one driver call) no_call_v2
//   nobody_v2(no subscriber) external_v2(enables external correlation) callbacks(of launches)
//   strange_fields_v2 other_fields_v2(all fields of the kinds that all_fields_v2 leaves out)
// Kinds: all_kinds_v2 all_kinds_user_v2(with one field) all_kinds(global) enable and disable each kind.
//   kind_N field_N(with one field) off_N enable and disable kind N of the subscriber, global_N of the global API.
//   fields_N enables kind N with its first fields: one, two, and so on.
// There are two users of CUPTI: use_first and use_second select the one that the next steps are of. given prints
// whether buffers were requested from it. many_several subscribes until CUPTI refuses.
#pragma once
#include "cupti_v2.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace scoped_profiler {

#ifdef TOOL_LINKED
#define X(name, parameters) extern "C" CUptiResult name##_linked parameters __asm__(#name);
CUPTI_V2_FUNCTIONS(X)
#undef X
#endif

inline void* library() {
  static void* const one = dlopen(getenv("TOOL_CUPTI"), RTLD_NOW);
  return one;
}
template <class Function> Function* find(const char* name) {
  auto* const function = library() != nullptr ? reinterpret_cast<Function*>(dlsym(library(), name)) : nullptr;
  if (function == nullptr) {
    fprintf(stderr, "no %s\n", name);
    exit(98);
  }
  return function;
}
#ifdef TOOL_LINKED
#define GLOBAL(name) (&name)
#define SCOPED(name, parameters) (&name##_linked)
#else
#define GLOBAL(name) (find<decltype(name)>(#name))
#define SCOPED(name, parameters) (find<CUptiResult parameters>(#name))
#endif
#define X(name, parameters) \
  inline auto* name##_found() { return SCOPED(name, parameters); }
CUPTI_V2_FUNCTIONS(X)
#undef X

inline int said(const char* name, int result) {
  printf("%s: %d\n", name, result);
  fflush(stdout);
  return result;
}
#define SAY(name, ...) said(#name, GLOBAL(name)(__VA_ARGS__))
#define SAY_V2(name, ...) said(#name, name##_found()(__VA_ARGS__))

inline uint64_t nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}
inline uint64_t CUPTIAPI own_clock() { return 3 * nanoseconds(CLOCK_MONOTONIC) + 7; }

struct Delivered {
  std::map<int, int> records;             // by kind
  std::map<int, int> calls;               // driver calls by callback id
  std::map<int, std::set<size_t>> bytes;  // of records, by kind
  std::map<int, std::string> places;      // of user-defined records, by kind
  std::set<uint64_t> kernels, launches;   // correlation ids
  std::map<uint64_t, uint64_t> external;
  int launch_calls = 0, early = 0, late = 0, threads_wrong = 0, buffers = 0, empty = 0, unreadable = 0;
  std::set<int> unaligned;      // kinds with a record that starts at no multiple of 8
  std::set<std::string> infos;  // what came with requests and completions
};
inline std::mutex mutex;
struct User {
  Delivered seen;
  bool with_own_clock = false, with_system_ids = false;
  uint64_t from = 0;
  CUpti_SubscriberHandle subscriber = nullptr;
  int given = 0, returned = 0, callbacks = 0;
  uint64_t now() const { return with_own_clock ? own_clock() : nanoseconds(CLOCK_REALTIME); }
};
inline User users[2];
inline User* user = users;

inline uint64_t this_thread(const User& of, bool wide) {
  static const pthread_t main_thread = pthread_self();
  if (of.with_system_ids) return static_cast<uint64_t>(getpid());
  return wide ? static_cast<uint64_t>(main_thread) : static_cast<uint32_t>(main_thread);
}

inline void check_times(User& of, uint64_t start, uint64_t end) {
  if (start < of.from || end < start) ++of.seen.early;
  if (end > of.now()) ++of.seen.late;
}

inline uint64_t value_at(const uint8_t* record, size_t offset, size_t bytes) {
  uint64_t value = 0;
  memcpy(&value, record + offset, bytes < sizeof value ? bytes : sizeof value);
  return value;
}

// What the checks need of a record, by name: offset and bytes.
struct Places {
  size_t start[2] = {}, end[2] = {}, correlation[2] = {}, cbid[2] = {}, thread[2] = {};
};
inline bool is_call(int kind) { return kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_RUNTIME; }
inline bool is_kernel(int kind) {
  return kind == CUPTI_ACTIVITY_KIND_KERNEL || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
}
inline Places fixed_places(int kind) {
#define AT(struct_, field) \
  { offsetof(struct_, field), sizeof(struct_::field) }
  if (is_kernel(kind))
    return {AT(CUpti_ActivityKernel10, start), AT(CUpti_ActivityKernel10, end),
            AT(CUpti_ActivityKernel10, correlationId)};
  if (is_call(kind))
    return {AT(CUpti_ActivityAPI, start), AT(CUpti_ActivityAPI, end), AT(CUpti_ActivityAPI, correlationId),
            AT(CUpti_ActivityAPI, cbid), AT(CUpti_ActivityAPI, threadId)};
#undef AT
  return {};
}
inline Places user_places(int kind, const cupti_v2::RecordPlaces& from_cupti) {
  Places places;
  const auto at = [&](int id, size_t(&to)[2]) {
    for (size_t i = 0; i < from_cupti.count; ++i) {
      if (from_cupti.fields[i].id != id) continue;
      to[0] = from_cupti.fields[i].offset;
      to[1] = from_cupti.fields[i].bytes;
    }
  };
  if (is_kernel(kind)) {
    at(7, places.start);
    at(8, places.end);
    at(22, places.correlation);
  } else if (is_call(kind)) {
    at(1, places.cbid);
    at(2, places.start);
    at(3, places.end);
    at(5, places.thread);
    at(6, places.correlation);
  }
  return places;
}

inline void take(User& of, const uint8_t* record, size_t bytes, const cupti_v2::RecordPlaces* with_fields) {
  Delivered& seen = of.seen;
  const int kind = static_cast<int>(value_at(record, 0, 4));
  ++seen.records[kind];
  seen.bytes[kind].insert(bytes);
  const Places places = with_fields != nullptr ? user_places(kind, *with_fields) : fixed_places(kind);
  const auto value = [&](const size_t(&place)[2]) { return value_at(record, place[0], place[1]); };
  if (is_kernel(kind)) seen.kernels.insert(value(places.correlation));
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER) ++seen.calls[static_cast<int>(value(places.cbid))];
  const bool launch =
      kind == CUPTI_ACTIVITY_KIND_DRIVER && (value(places.cbid) == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel ||
                                             value(places.cbid) == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz);
  if (launch) {
    ++seen.launch_calls;
    seen.launches.insert(value(places.correlation));
    if (places.thread[1] != 0 && value(places.thread) != this_thread(of, places.thread[1] == 8)) ++seen.threads_wrong;
  }
  if ((is_kernel(kind) || launch) && places.start[1] != 0) check_times(of, value(places.start), value(places.end));
  if (kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION && with_fields == nullptr) {
    const auto* const one = reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
    seen.external[one->correlationId] = one->externalId;
  }
}

inline void give(User& of, uint8_t** buffer, size_t* size, size_t* most) {
  const std::lock_guard lock(mutex);
  ++of.given;
  *size = 64 * 1024;
  *buffer = static_cast<uint8_t*>(aligned_alloc(8, *size));
  *most = 0;
}
inline void CUPTIAPI requested(uint8_t** buffer, size_t* size, size_t* most) { give(users[0], buffer, size, most); }
template <int which>
void CUPTIAPI requested_v2(uint8_t** buffer, size_t* size, size_t* most, cupti_v2::RequestInfo* info) {
  {
    const std::lock_guard lock(mutex);
    char text[64];
    snprintf(text, sizeof text, "request: %s %zu bytes", info == nullptr ? "no info" : "info",
             info != nullptr ? info->size : 0);
    users[which].seen.infos.insert(text);
  }
  give(users[which], buffer, size, most);
}

template <class Next> void read(User& of, uint8_t* buffer, size_t valid, cupti_v2::CompleteInfo* info, Next&& next) {
  const std::lock_guard lock(mutex);
  Delivered& seen = of.seen;
  ++of.returned;
  ++seen.buffers;
  if (valid == 0) ++seen.empty;
  for (size_t kind = 0; info != nullptr && info->places != nullptr && kind < info->kinds; ++kind) {
    const cupti_v2::RecordPlaces* const places = info->places[kind];
    if (places == nullptr) continue;
    std::string& text = seen.places[static_cast<int>(kind)];
    char part[96];
    snprintf(part, sizeof part, "%zu bytes:", places->record_bytes);
    text = part;
    for (size_t i = 0; i < places->count; ++i) {
      const cupti_v2::FieldPlace& field = places->fields[i];
      snprintf(part, sizeof part, " %d@%zu+%zu/%zu", field.id, field.offset, field.bytes, field.alignment);
      text += part;
    }
  }
  const auto places_of = [&](const CUpti_Activity* record) -> const cupti_v2::RecordPlaces* {
    const size_t kind = static_cast<size_t>(value_at(reinterpret_cast<const uint8_t*>(record), 0, 4));
    return info != nullptr && info->places != nullptr && kind < info->kinds ? info->places[kind] : nullptr;
  };
  CUpti_Activity* record = nullptr;
  CUptiResult result = CUPTI_SUCCESS;
  for (const uint8_t* before = nullptr;;) {
    const CUpti_Activity* const last = record;
    result = next(buffer, valid, &record);
    const uint8_t* const at = result == CUPTI_SUCCESS ? reinterpret_cast<const uint8_t*>(record) : buffer + valid;
    if (before != nullptr) take(of, before, static_cast<size_t>(at - before), places_of(last));
    if (result != CUPTI_SUCCESS) break;
    if ((at - buffer) % 8 != 0) seen.unaligned.insert(static_cast<int>(value_at(at, 0, 4)));
    before = at;
  }
  if (result != CUPTI_ERROR_MAX_LIMIT_REACHED) {
    ++seen.unreadable;
    const auto at = record != nullptr ? reinterpret_cast<const uint8_t*>(record) - buffer : -1;
    fprintf(stderr, "result %d after the record at %td of %zu:", result, at, valid);
    for (size_t i = static_cast<size_t>(at < 0 ? 0 : at); i + 4 <= valid && i < static_cast<size_t>(at) + 160; i += 4)
      fprintf(stderr, " %x", static_cast<unsigned>(value_at(buffer, i, 4)));
    fprintf(stderr, "\n");
  }
  free(buffer);
}
inline void CUPTIAPI completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  read(users[0], buffer, valid, nullptr, [](uint8_t* at, size_t bytes, CUpti_Activity** record) {
    return GLOBAL(cuptiActivityGetNextRecord)(at, bytes, record);
  });
}
template <int which> void CUPTIAPI completed_v2(uint8_t* buffer, size_t, size_t valid, cupti_v2::CompleteInfo* info) {
  {
    const std::lock_guard lock(mutex);
    char text[160];
    snprintf(text, sizeof text, "completion: %s %zu bytes, places %s of %zu kinds",
             info == nullptr ? "no info" : "info", info != nullptr ? info->size : 0,
             info != nullptr && info->places != nullptr ? "some" : "none", info != nullptr ? info->kinds : 0);
    users[which].seen.infos.insert(text);
  }
  read(users[which], buffer, valid, info, [](uint8_t* at, size_t bytes, CUpti_Activity** record) {
    return cuptiActivityGetNextRecord_v2_found()(users[which].subscriber, at, bytes, record);
  });
}

inline void CUPTIAPI callback(void* of, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {
  const std::lock_guard lock(mutex);
  if (of != nullptr) ++static_cast<User*>(of)->callbacks;
}

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_DRIVER};

inline void say() {
  const std::lock_guard lock(mutex);
  Delivered& seen = user->seen;
  const auto of = [&](int kind) { return seen.records[kind]; };
  size_t joined = 0;
  for (const uint64_t kernel : seen.kernels) joined += seen.launches.count(kernel);
  printf("kernels %d copies %d fills %d launches %d runtime %s external %zu\n",
         of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), of(CUPTI_ACTIVITY_KIND_MEMCPY), of(CUPTI_ACTIVITY_KIND_MEMSET),
         seen.launch_calls, of(CUPTI_ACTIVITY_KIND_RUNTIME) != 0 ? "some" : "none", seen.external.size());
  printf("joined %zu early %d late %d threads wrong %d unreadable %d\n", joined, seen.early, seen.late,
         seen.threads_wrong, seen.unreadable);
  for (const auto& [kind, sizes] : seen.bytes) {
    printf("record bytes of kind %d:", kind);
    for (const size_t size : sizes) printf(" %zu", size);
    printf("\n");
  }
  for (const auto& [cbid, number] : seen.calls) printf("driver call %d: %d\n", cbid, number);
  for (const int kind : seen.unaligned) printf("records of kind %d not at a multiple of 8\n", kind);
  if (user->callbacks != 0) printf("callbacks %d\n", user->callbacks);
  user->callbacks = 0;
  for (const std::string& text : seen.infos) printf("%s\n", text.c_str());
  for (const auto& [kind, text] : seen.places) printf("places of kind %d: %s\n", kind, text.c_str());
  fflush(stdout);
  seen = {};
}

inline void say_buffers() {
  const std::lock_guard lock(mutex);
  printf("buffers not returned: %s\n", user->given == user->returned ? "none" : "some");
}

inline void set(int attribute, const char* name, size_t size, void* value) {
  said(name, cuptiActivitySetAttribute_v2_found()(user->subscriber, attribute, &size, value));
}

inline void attributes() {
  for (int attribute = 0; attribute <= 24; ++attribute) {
    uint64_t value = 0;
    size_t size = sizeof value;
    const CUptiResult result = cuptiActivityGetAttribute_v2_found()(user->subscriber, attribute, &size, &value);
    printf("attribute %d: %d, %zu bytes, %llu\n", attribute, result, size, static_cast<unsigned long long>(value));
  }
  for (const int attribute : {cupti_v2::kZeroedBuffers, cupti_v2::kPerThreadBuffers, cupti_v2::kSeveralSubscribers,
                              cupti_v2::kLatencyTimestamps, cupti_v2::kAllSyncRecords, cupti_v2::kEventTimestamps,
                              cupti_v2::kLaunchAttributes, cupti_v2::kDeviceGraphs, cupti_v2::kWholeGraphsForAll}) {
    uint8_t on = 1, off = 0, got = 9;
    size_t size = 1;
    const CUptiResult first = cuptiActivitySetAttribute_v2_found()(user->subscriber, attribute, &size, &on);
    size = 1;
    const CUptiResult get = cuptiActivityGetAttribute_v2_found()(user->subscriber, attribute, &size, &got);
    size = 1;
    const CUptiResult last = cuptiActivitySetAttribute_v2_found()(user->subscriber, attribute, &size, &off);
    printf("attribute %d: set %d, get %d %d, set back %d\n", attribute, first, get, got, last);
  }
  uint8_t small = 0;
  size_t size = 0;
  said("attribute with no room",
       cuptiActivityGetAttribute_v2_found()(user->subscriber, cupti_v2::kThreadIdType, &size, &small));
  size = 1;
  said("attribute 99", cuptiActivityGetAttribute_v2_found()(user->subscriber, 99, &size, &small));
  fflush(stdout);
}

inline void enable_fields(const char* what, CUpti_ActivityKind kind, std::vector<int> ids) {
  cupti_v2::Config config;
  config.fields.count = ids.size();
  config.fields.ids = ids.data();
  said(what, cuptiActivityEnable_v2_found()(user->subscriber, kind, &config));
}

inline void enable_calls(const char* what, bool only) {
  CUpti_CallbackId ids[] = {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel};
  cupti_v2::CallSelection calls;
  calls.ids = ids;
  calls.count = 1;
  calls.only = only;
  cupti_v2::CallOptions options;
  options.calls = &calls;
  cupti_v2::Config config;
  config.kind_options = &options;
  said(what, cuptiActivityEnable_v2_found()(user->subscriber, CUPTI_ACTIVITY_KIND_DRIVER, &config));
}

inline void subscribe(const char* what, uint8_t several, CUpti_SubscriberHandle* handle) {
  cupti_v2::SubscriberParams params;
  char other[64] = "";
  params.name = "tool";
  params.other_name = other;
  params.other_name_bytes = sizeof other;
  params.several = several;
  said(what, cuptiSubscribe_v2_found()(handle, reinterpret_cast<CUpti_CallbackFunc>(callback), user, &params));
  if (other[0] != 0) printf("other subscriber: %s\n", other);
}

inline void kinds(CUpti_SubscriberHandle of, const char* whose) {
  CUpti_ActivityKind found[64] = {};
  uint32_t room = 8, count = 0;  // 8: two kinds if it is bytes
  const CUptiResult result = cuptiActivityGetEnabledKinds_found()(of, found, &room, &count);
  printf("enabled kinds of %s: %d, %u:", whose, result, count);
  for (const CUpti_ActivityKind kind : found) {
    if (kind != 0) printf(" %d", kind);
  }
  printf("\n");
}

inline void register_callbacks() {
  const bool first = user == users;
  SAY_V2(cuptiActivityRegisterCallbacks_v2, user->subscriber, first ? requested_v2<0> : requested_v2<1>,
         first ? completed_v2<0> : completed_v2<1>);
}

// Up to the number of the fields that CUPTI 13.5 declares.
template <size_t kinds> void enable_all_fields(const int (&fields)[kinds][2]) {
  for (const auto& [kind, count] : fields) {
    std::vector<int> ids;
    for (int id = 0; id < count; ++id) ids.push_back(id);
    char name[32];
    snprintf(name, sizeof name, "all fields of kind %d", kind);
    enable_fields(name, static_cast<CUpti_ActivityKind>(kind), ids);
  }
}

inline int enable_one(int kind, bool with_field) {
  int ids[] = {0};
  cupti_v2::Config config;
  config.fields.count = 1;
  config.fields.ids = ids;
  return cuptiActivityEnable_v2_found()(user->subscriber, static_cast<CUpti_ActivityKind>(kind),
                                        with_field ? &config : nullptr);
}

inline void enable_each_kind(const std::string& how) {
  for (int number = 1; number < 60; ++number) {
    const auto kind = static_cast<CUpti_ActivityKind>(number);
    const bool global = how == "all_kinds";
    const int on = global ? GLOBAL(cuptiActivityEnable)(kind) : enable_one(number, how == "all_kinds_user_v2");
    const int off =
        global ? GLOBAL(cuptiActivityDisable)(kind) : cuptiActivityDisable_v2_found()(user->subscriber, kind, nullptr);
    printf("kind %d: enable %d, disable %d\n", number, on, off);
  }
  fflush(stdout);
}

// Subscribes until CUPTI refuses, and unsubscribes all.
inline void subscribe_many() {
  CUpti_SubscriberHandle many[12] = {};
  for (CUpti_SubscriberHandle& one : many) subscribe("cuptiSubscribe_v2, one of many", 1, &one);
  for (const CUpti_SubscriberHandle one : many) SAY(cuptiUnsubscribe, one);
}

// Steps with the number of a kind.
inline bool step_of_kind(const std::string& what) {
  const size_t end = what.rfind('_');
  const int kind = end == std::string::npos ? 0 : atoi(what.c_str() + end + 1);
  if (kind == 0) return false;
  const std::string how = what.substr(0, end);
  if (how == "kind" || how == "field") {
    said("cuptiActivityEnable_v2", enable_one(kind, how == "field"));
  } else if (how == "fields") {
    std::vector<int> ids;
    for (int id = 0; id < 12; ++id) {
      ids.push_back(id);
      enable_fields(("up to field " + std::to_string(id)).c_str(), static_cast<CUpti_ActivityKind>(kind), ids);
      SAY_V2(cuptiActivityDisable_v2, user->subscriber, static_cast<CUpti_ActivityKind>(kind), nullptr);
    }
  } else if (how == "off") {
    SAY_V2(cuptiActivityDisable_v2, user->subscriber, static_cast<CUpti_ActivityKind>(kind), nullptr);
  } else if (how == "global") {
    SAY(cuptiActivityEnable, static_cast<CUpti_ActivityKind>(kind));
  } else {
    return false;
  }
  return true;
}

template <class Work> void step(const std::string& what, Work&& work) {
  using namespace cupti_v2;
  constexpr auto kExternal = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
  printf("-- %s\n", what.c_str());
  if (what == "work" || what == "work_alone") {
    for (User& one : users) one.from = one.now();
    work();
    if (what == "work") SAY(cuptiActivityFlushAll, 0);
  } else if (what == "flush") {
    SAY(cuptiActivityFlushAll, 0);
  } else if (what == "force") {
    SAY(cuptiActivityFlushAll, 1);
  } else if (what == "say") {
    say();
  } else if (what == "finalize") {
    SAY(cuptiFinalize);
  } else if (what == "register") {
    SAY(cuptiActivityRegisterCallbacks, requested, completed);
  } else if (what == "clock") {
    users[0].with_own_clock = SAY(cuptiActivityRegisterTimestampCallback, own_clock) == CUPTI_SUCCESS;
  } else if (what == "enable" || what == "start") {
    if (what == "start") SAY(cuptiActivityRegisterCallbacks, requested, completed);
    for (const CUpti_ActivityKind kind : kKinds) SAY(cuptiActivityEnable, kind);
  } else if (what == "stop") {
    for (const CUpti_ActivityKind kind : kKinds) SAY(cuptiActivityDisable, kind);
    SAY(cuptiActivityFlushAll, 1);
    say_buffers();
  } else if (what == "time") {
    uint64_t time = 0;
    const uint64_t before = user->now();
    if (SAY(cuptiGetTimestamp, &time) == CUPTI_SUCCESS)
      printf("time is %s\n", time >= before && time <= user->now() ? "right" : "wrong");
  } else if (what == "push") {
    SAY(cuptiActivityPushExternalCorrelationId, kExternal, 7);
  } else if (what == "pop") {
    uint64_t last = 0;
    SAY(cuptiActivityPopExternalCorrelationId, kExternal, &last);
    printf("popped %d\n", static_cast<int>(last));
  } else if (what == "dropped") {
    size_t dropped = 99;
    SAY(cuptiActivityGetNumDroppedRecords, nullptr, 0, &dropped);
    printf("dropped %zu\n", dropped);
  } else if (what == "subscribe") {
    SAY(cuptiSubscribe, &user->subscriber, reinterpret_cast<CUpti_CallbackFunc>(callback), user);
  } else if (what == "subscribe_v2") {
    subscribe("cuptiSubscribe_v2", 0, &user->subscriber);
  } else if (what == "subscribe_several") {
    subscribe("cuptiSubscribe_v2, several", 1, &user->subscriber);
  } else if (what == "second") {
    CUpti_SubscriberHandle second = nullptr;
    subscribe("cuptiSubscribe_v2, the second", 0, &second);
  } else if (what == "second_several") {
    CUpti_SubscriberHandle second = nullptr;
    subscribe("cuptiSubscribe_v2, the second, several", 1, &second);
  } else if (what == "unsubscribe") {
    SAY(cuptiUnsubscribe, user->subscriber);
  } else if (what == "register_v2") {
    register_callbacks();
  } else if (what == "enable_v2" || what == "start_v2") {
    if (what == "start_v2") register_callbacks();
    for (const CUpti_ActivityKind kind : kKinds) SAY_V2(cuptiActivityEnable_v2, user->subscriber, kind, nullptr);
  } else if (what == "external_v2") {
    SAY_V2(cuptiActivityEnable_v2, user->subscriber, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, nullptr);
  } else if (what == "dump_v2") {
    for (const CUpti_ActivityKind kind : kKinds) SAY_V2(cuptiActivityEnableAndDump_v2, user->subscriber, kind, nullptr);
  } else if (what == "disable_v2" || what == "stop_v2") {
    for (const CUpti_ActivityKind kind : kKinds) SAY_V2(cuptiActivityDisable_v2, user->subscriber, kind, nullptr);
    if (what == "disable_v2") return;
    SAY(cuptiActivityFlushAll, 1);
    say_buffers();
  } else if (what == "user" || what == "no_user") {
    uint8_t on = what == "user";
    set(kUserDefinedRecords, what == "user" ? "user-defined records on" : "user-defined records off", 1, &on);
  } else if (what == "fields_v2") {
    enable_fields("fields of kernels", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, {0, 7, 8, 10, 11, 12, 22, 24, 4, 27});
    enable_fields("fields of copies", CUPTI_ACTIVITY_KIND_MEMCPY, {0, 1, 5, 6, 7, 11});
    enable_fields("fields of fills", CUPTI_ACTIVITY_KIND_MEMSET, {0, 2, 3, 4});
    enable_fields("fields of calls", CUPTI_ACTIVITY_KIND_DRIVER, {0, 1, 2, 3, 5, 6});
  } else if (what == "fewer_fields_v2") {
    enable_fields("fewer fields of kernels", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, {0, 22, 8, 7});
  } else if (what == "unknown_fields_v2") {
    enable_fields("an unknown field of kernels", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, {0, 200, 22, 7, 8});
  } else if (what == "all_fields_v2") {
    // Of the kinds that need no permission.
    enable_all_fields({{1, 20},  {2, 18},  {10, 49}, {4, 8},   {5, 8},   {9, 10}, {11, 4},  {12, 8},
                       {17, 8},  {22, 20}, {36, 12}, {37, 6},  {38, 10}, {39, 4}, {49, 19}, {50, 13},
                       {51, 10}, {52, 12}, {53, 9},  {54, 11}, {56, 11}, {58, 9}});
  } else if (what == "other_fields_v2") {
    enable_all_fields({{3, 49},
                       {8, 38},
                       {13, 8},
                       {20, 5},
                       {25, 12},
                       {33, 28},
                       {34, 28},
                       {35, 24},
                       {40, 12},
                       {46, 9},
                       {47, 6},
                       {48, 8},
                       {55, 7},
                       {57, 4},
                       {59, 13}});
  } else if (what == "strange_fields_v2") {
    enable_fields("the kind alone", CUPTI_ACTIVITY_KIND_MEMSET, {0});
    enable_fields("fields twice", CUPTI_ACTIVITY_KIND_MEMCPY, {0, 11, 5, 11, 0, -1, 1000, 6, 7});
    enable_fields("small fields", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, {0, 4, 27, 200, 10, 300, 28});
  } else if (what == "use_first" || what == "use_second") {
    user = &users[what == "use_second"];
  } else if (what == "given") {
    const std::lock_guard lock(mutex);
    printf("buffers requested: %s\n", user->given == 0 ? "none" : "some");
  } else if (what == "many_several") {
    subscribe_many();
  } else if (what == "callbacks") {
    SAY(cuptiEnableCallback, 1, user->subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
  } else if (what == "all_kinds" || what == "all_kinds_v2" || what == "all_kinds_user_v2") {
    enable_each_kind(what);
  } else if (step_of_kind(what)) {
  } else if (what == "wrong_fields_v2") {
    enable_fields("fields without the kind", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, {7, 8});
    enable_fields("unknown fields", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, {0, 200});
    enable_fields("no fields", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, {});
    SAY_V2(cuptiActivityEnable_v2, user->subscriber, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, nullptr);
  } else if (what == "clock_v2") {
    uint64_t(CUPTIAPI * clock)() = own_clock;
    set(kTimestampCallback, "clock", sizeof clock, &clock);
    user->with_own_clock = true;
  } else if (what == "system_v2") {
    CUpti_ActivityThreadIdType type = CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
    set(kThreadIdType, "system thread ids", sizeof type, &type);
    user->with_system_ids = true;
  } else if (what == "attributes_v2") {
    attributes();
  } else if (what == "time_v2") {
    uint64_t time = 0;
    const uint64_t before = user->now();
    if (SAY_V2(cuptiGetTimestamp_v2, user->subscriber, &time) == CUPTI_SUCCESS)
      printf("time is %s\n", time >= before && time <= user->now() ? "right" : "wrong");
  } else if (what == "push_v2") {
    SAY_V2(cuptiActivityPushExternalCorrelationId_v2, user->subscriber, kExternal, 7);
  } else if (what == "pop_v2") {
    uint64_t last = 0;
    SAY_V2(cuptiActivityPopExternalCorrelationId_v2, user->subscriber, kExternal, &last);
    printf("popped %d\n", static_cast<int>(last));
  } else if (what == "dropped_v2") {
    size_t dropped = 99;
    SAY_V2(cuptiActivityGetNumDroppedRecords_v2, user->subscriber, nullptr, 0, &dropped);
    printf("dropped %zu\n", dropped);
  } else if (what == "kinds_v2") {
    kinds(user->subscriber, "the subscriber");
    kinds(nullptr, "all");
  } else if (what == "only_launches_v2") {
    enable_calls("only launches", true);
  } else if (what == "not_launches_v2") {
    enable_calls("all calls but launches", false);
  } else if (what == "call_v2" || what == "no_call_v2") {
    SAY_V2(cuptiActivityEnableDriverApi_v2, user->subscriber, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
           what == "call_v2");
  } else if (what == "nobody_v2") {
    const CUpti_SubscriberHandle nobody = nullptr;
    SAY_V2(cuptiActivityRegisterCallbacks_v2, nobody, requested_v2<0>, completed_v2<0>);
    SAY_V2(cuptiActivityEnable_v2, nobody, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, nullptr);
    SAY_V2(cuptiActivityRegisterCallbacks_v2, user->subscriber, nullptr, nullptr);
    SAY_V2(cuptiActivityEnable_v2, user->subscriber, CUPTI_ACTIVITY_KIND_INVALID, nullptr);
  } else {
    fprintf(stderr, "no step %s\n", what.c_str());
    exit(96);
  }
}

// One line of arguments: N STEP…. `make_context` is called before the first work.
template <class Make, class Work, class Start>
int run(int argc, char** argv, Make&& make_context, Work&& work, Start&& start_profiler) {
  this_thread(users[0], true);
  const int count = argc > 1 ? atoi(argv[1]) : 10;
  bool made = false;
  for (int i = 2; i < argc; ++i) {
    if (strcmp(argv[i], "profiler") == 0) {
      start_profiler();
      continue;
    }
    if (strcmp(argv[i], "work") == 0 || strcmp(argv[i], "work_alone") == 0 || strcmp(argv[i], "context") == 0) {
      if (!made) make_context();
      made = true;
      if (strcmp(argv[i], "context") == 0) continue;
    }
    step(argv[i], [&] { work(count); });
  }
  return 0;
}

}  // namespace scoped_profiler
