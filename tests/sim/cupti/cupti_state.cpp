// CUPTI's side of the driver: what it records when calls and operations happen, and how buffers are delivered to the
// program.
#include "tests/sim/cupti/cupti_state.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>

#include "tests/sim/cupti/cupti_external.h"
#include "tests/sim/cupti/cupti_scope.h"

namespace sim {
namespace {

// The threads that were inside a call, by the low half of pthread_self().
std::mutex g_threads_mutex;
std::map<uint32_t, uint64_t>& threads() {
  static auto* const one = new std::map<uint32_t, uint64_t>;
  return *one;
}
bool note_thread() {
  std::lock_guard<std::mutex> lock(g_threads_mutex);
  threads()[static_cast<uint32_t>(pthread_self())] = static_cast<uint64_t>(pthread_self());
  return true;
}

uint32_t thread_id(CUpti_ActivityThreadIdType type) {
  if (type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) {
    static thread_local const uint32_t id = static_cast<uint32_t>(syscall(SYS_gettid));
    return id;
  }
  static thread_local const bool noted = note_thread();
  return noted ? static_cast<uint32_t>(pthread_self()) : 0;
}

void add_anchor(State& now, Ns moment, uint64_t stamp) {
  constexpr size_t kMost = size_t{1} << 20;
  auto& anchors = now.anchors;
  if (!anchors.empty() && (moment < anchors.back().first || stamp < anchors.back().second)) return;
  if (!anchors.empty() && anchors.back().first == moment) {
    anchors.back().second = stamp;
    return;
  }
  if (anchors.size() >= kMost) anchors.erase(anchors.begin(), anchors.begin() + kMost / 2);
  anchors.emplace_back(moment, stamp);
}

bool wants_operation(const State& now, const OperationRecord& record) {
  CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  if (now.operations_stopped) return false;
  // Whole-graph tracing replaces the records of a graph's operations.
  if (record.graph_id != 0 && now.enabled[CUPTI_ACTIVITY_KIND_GRAPH_TRACE]) return false;
  if (record.kind == OperationKind::Kernel) {
    kind = now.enabled[CUPTI_ACTIVITY_KIND_KERNEL] ? CUPTI_ACTIVITY_KIND_KERNEL : CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  } else if (record.kind == OperationKind::Memset) {
    kind = CUPTI_ACTIVITY_KIND_MEMSET;
  } else if (record.peer) {
    kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  }
  if (now.enabled[kind] || (record.peer && now.enabled[CUPTI_ACTIVITY_KIND_MEMCPY])) return true;
  const auto some = now.enabled_in.find(kind);
  return some != now.enabled_in.end() && some->second.count(record.context_id) != 0;
}

// Counts one record; returns true if the script drops this one.
bool lost(State& now) {
  ++now.seen;
  const uint64_t every = script().cupti.drop_every;
  if (every == 0 || now.seen % every != 0) return false;
  ++now.dropped;
  return true;
}

using Called = std::pair<CUpti_CallbackFunc, void*>;
// Of the subscribers that want it.
template <class Wanted> std::vector<Called> callbacks_of(State& now, Wanted&& wanted) {
  std::lock_guard<std::mutex> lock(now.mutex);
  std::vector<Called> called;
  const auto add = [&](const Subscriber& one) {
    if (one.callback != nullptr && wanted(one)) called.emplace_back(one.callback, one.user);
  };
  if (now.subscriber != nullptr) add(*now.subscriber);
  for (const std::unique_ptr<Subscriber>& one : now.others) add(*one);
  return called;
}

void call_subscriber(ApiEvent& event, CUpti_ApiCallbackSite site) {
  const bool driver = event.domain == ApiDomain::Driver;
  const std::vector<Called> called = callbacks_of(state(), [&](const Subscriber& one) {
    return driver ? event.cbid < kDriverCallbacks && one.driver[event.cbid]
                  : event.cbid < kRuntimeCallbacks && one.runtime[event.cbid];
  });
  if (called.empty()) return;
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionName = event.name;
  data.functionParams = event.params;
  data.functionReturnValue = site == CUPTI_API_EXIT ? &event.result : nullptr;
  data.symbolName = event.symbol;
  data.context = event.context;
  data.contextUid = event.context_id;
  data.correlationData = &event.correlation_data;
  data.correlationId = event.correlation;
  for (const auto& [callback, user] : called)
    callback(user, static_cast<CUpti_CallbackDomain>(event.domain), event.cbid, &data);
}

// As observed with CUDA 13: if the recording of a driver call is disabled while a thread is inside it, CUPTI reports
// that call's correlation id for all later calls of the thread.
thread_local uint32_t tl_kept_correlation = 0;

bool records_call(State& now, const ApiEvent& event) {
  if (event.domain == ApiDomain::Runtime) return event.cbid < kRuntimeCallbacks && now.runtime_api[event.cbid];
  // As observed with CUPTI 13.0: if the kind is enabled and no single call is, only calls that the program makes itself
  // are recorded.
  if (now.driver_kind_alone && event.inside_runtime) return false;
  // As seen on an H200 (the sample callback_timestamp of CUDA 13.0): with callbacks of runtime calls, no operation has
  // the record of a driver call inside of one.
  if (event.inside_runtime && now.subscriber != nullptr && now.subscriber->runtime.any()) return false;
  return now.driver.load()->shows_driver_calls() && event.cbid < kDriverCallbacks && now.driver_api[event.cbid];
}

class Sink final : public ActivitySink {
 public:
  void api_enter(ApiEvent& event) override {
    State& now = state();
    event.begin = clock_now(now);
    if (event.domain == ApiDomain::Driver) {
      const std::lock_guard<std::mutex> lock(now.mutex);
      event.watched = records_call(now, event);
      if (tl_kept_correlation != 0) event.correlation = tl_kept_correlation;
    }
    call_subscriber(event, CUPTI_API_ENTER);
  }

  void api_exit(ApiEvent& event) override {
    State& now = state();
    call_subscriber(event, CUPTI_API_EXIT);
    const uint64_t end = clock_now(now);
    std::unique_lock<std::mutex> lock(now.mutex);
    if (const uint64_t most = script().cupti.backlog; most != 0 && now.finished.size() > most) {
      now.worker_wake.notify_all();
      now.drained.wait_for(lock, std::chrono::seconds(1), [&] { return now.finished.size() <= most; });
    }
    const bool driver = event.domain == ApiDomain::Driver, wanted = records_call(now, event);
    if (driver && wanted && event.cbid == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch) now.graph_launched = true;
    if (event.watched && !wanted) tl_kept_correlation = event.correlation;
    if (now.enabled[CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION] && wanted) {
      for (const auto& [kind, id] : external_ids()) {
        if (!lost(now)) now.finished.push_back(ExternalRecord{kind, id, event.correlation});
      }
    }
    if (!wanted || lost(now)) return;
    now.finished.push_back(ApiRecord{driver ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME, event.cbid,
                                     thread_id(now.thread_id_type), event.correlation, event.begin, end, event.result});
  }

  bool wants_driver_calls() override {
    State& now = state();
    std::lock_guard<std::mutex> lock(now.mutex);
    return now.driver_api.any();
  }

  void operation_done(const OperationRecord& record) override {
    State& now = state();
    std::lock_guard<std::mutex> lock(now.mutex);
    if (wants_operation(now, record) && !lost(now)) now.finished.push_back(record);
    counters_see(record);
    pc_sees(now, record);
    if (record.kind != OperationKind::Memcpy || !now.unified_configured ||
        !now.enabled[CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER])
      return;
    if (record.target_kind == CUPTI_ACTIVITY_MEMORY_KIND_MANAGED)
      now.finished.push_back(Migration{record.start, record.end, record.bytes, record.device, true});
    if (record.source_kind == CUPTI_ACTIVITY_MEMORY_KIND_MANAGED)
      now.finished.push_back(Migration{record.start, record.end, record.bytes, record.device, false});
  }

  void graph_done(const GraphRun& run) override {
    State& now = state();
    std::lock_guard<std::mutex> lock(now.mutex);
    if (now.enabled[CUPTI_ACTIVITY_KIND_GRAPH_TRACE] && !lost(now)) now.finished.push_back(run);
  }

  void module_loaded(const ModuleRecord& module) override { pc_module_loaded(state(), module); }

  void resource(ResourceEvent what, CUcontext context, CUstream stream) override {
    const auto cbid = static_cast<CUpti_CallbackId>(what);
    if (what == ResourceEvent::ContextDestroyStarting) pc_context_ends(context);
    const std::vector<Called> called = callbacks_of(state(), [&](const Subscriber& one) { return one.resource[cbid]; });
    CUpti_ResourceData data{};
    data.context = context;
    data.resourceHandle.stream = stream;
    for (const auto& [callback, user] : called) callback(user, CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
  }
};

Sink& sink() {
  static Sink* const one = new Sink;
  return *one;
}

void hand_over(State& now, const Buffer& buffer) {
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  {
    std::lock_guard<std::mutex> lock(now.mutex);
    const uint64_t every = script().cupti.lose_buffer_every;
    if (++now.buffers; every != 0 && now.buffers % every == 0) return;
    complete = now.complete;
  }
  if (now.scope == Scope::Subscriber) return complete_scoped(now, buffer.memory, buffer.size, buffer.used);
  if (complete != nullptr) complete(nullptr, 0, buffer.memory, buffer.size, buffer.used);
}

void hand_over_due(State& now) {
  while (!now.full.empty() && now.full.front().due <= machine_ns()) {
    const Buffer buffer = now.full.front();
    now.full.pop_front();
    hand_over(now, buffer);
  }
}

void close_buffer(State& now) {
  if (now.open.memory == nullptr) return;
  now.open.due = machine_ns() + script().cupti.late_ms * 1'000'000;
  now.full.push_back(now.open);
  now.open = Buffer{};
}

bool open_buffer(State& now) {
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  {
    std::lock_guard<std::mutex> lock(now.mutex);
    request = now.request;
  }
  Buffer made;
  if (now.scope == Scope::Subscriber) {
    if (!request_scoped(now, &made.memory, &made.size, &made.max_records)) return false;
  } else if (request == nullptr) {
    return false;
  } else {
    request(&made.memory, &made.size, &made.max_records);
  }
  if (made.memory == nullptr || made.size == 0) return false;
  now.open = made;
  return true;
}

}  // namespace

uint64_t thread_of_half(const uint8_t* half) {
  uint32_t id = 0;
  memcpy(&id, half, sizeof id);
  std::lock_guard<std::mutex> lock(g_threads_mutex);
  const auto found = threads().find(id);
  return found != threads().end() ? found->second : id;
}

// A child of a process that used CUPTI has no CUPTI: its worker thread does not exist, and its locks may be held for
// ever.
State& state() {
  static bool in_child = false;
  static State* const one = [] {
    pthread_atfork(nullptr, nullptr, [] { in_child = true; });
    return new State;
  }();
  if (in_child && script().cupti.child_dies) {
    constexpr char text[] = "simulated CUPTI: called in a child of a process that used it\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(98);
  }
  return *one;
}

uint64_t CUPTIAPI real_time() {
  timespec moment{};
  clock_gettime(CLOCK_REALTIME, &moment);
  return static_cast<uint64_t>(moment.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(moment.tv_nsec);
}

uint64_t clock_now(State& now) {
  const CUpti_TimestampCallbackFunc callback = now.timestamp;
  if (now.driver == nullptr) return callback();
  Ns moment = now.driver.load()->now();
  uint64_t stamp = callback();
  // If the thread is interrupted between the two readings, the pair would shift all times near it, so it is read again.
  constexpr Ns kClose = 2000;
  for (int tries = 0; tries < 4; ++tries) {
    const Ns after = now.driver.load()->now();
    if (after - moment <= kClose) break;
    moment = after;
    stamp = callback();
  }
  std::lock_guard<std::mutex> lock(now.mutex);
  add_anchor(now, moment, stamp);
  return stamp;
}

CUptiResult attach() {
  State& now = state();
  {
    std::lock_guard<std::mutex> lock(now.mutex);
    if (now.attached) return CUPTI_SUCCESS;
  }
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  const auto find = reinterpret_cast<const DriverInternals* (*)()>(dlsym(driver, "sim_driver_internals"));
  if (find == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  std::lock_guard<std::mutex> lock(now.mutex);
  now.driver = find();
  if (!now.driver.load()->attach(&sink())) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  now.attached = true;
  return CUPTI_SUCCESS;
}

void detach() {
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  if (!now.attached) return;
  now.driver.load()->attach(nullptr);
  now.attached = false;
}

void deliver(bool partly_filled) {
  State& now = state();
  if (now.driver != nullptr) now.driver.load()->settle();
  std::lock_guard<std::recursive_mutex> delivery(now.delivery);
  size_t due = 0;  // operations that finish later wait for the next delivery, which knows their times
  {
    std::lock_guard<std::mutex> lock(now.mutex);
    due = now.finished.size();
  }
  if (now.driver != nullptr) clock_now(now);  // an anchor that is not older than any of them
  for (; due != 0; --due) {
    Finished next;
    size_t need = 0;
    alignas(8) uint8_t bytes[512];
    {
      std::lock_guard<std::mutex> lock(now.mutex);
      if (now.finished.empty()) break;
      next = now.finished.front();
      now.finished.pop_front();
      need = write_record(now, next, bytes);
      if (now.scope == Scope::Subscriber) {
        alignas(8) uint8_t whole[512];
        memcpy(whole, bytes, need);
        need = write_scoped(whole, need, bytes);
      }
    }
    if (need == 0) continue;
    const bool room = now.open.memory != nullptr && now.open.used + need <= now.open.size &&
                      (now.open.max_records == 0 || now.open.records < now.open.max_records);
    if (!room) {
      close_buffer(now);
      hand_over_due(now);
      if (!open_buffer(now) || now.open.size < need) {
        std::lock_guard<std::mutex> lock(now.mutex);
        ++now.dropped;
        continue;
      }
    }
    memcpy(now.open.memory + now.open.used, bytes, need);
    now.open.used += need;
    ++now.open.records;
  }
  if (partly_filled && now.open.records != 0) close_buffer(now);
  hand_over_due(now);
  now.drained.notify_all();
}

void start_worker() {
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  if (now.worker_running) return;
  now.worker_running = true;
  const uint64_t generation = ++now.worker_generation;
  std::thread([generation] {
    pthread_setname_np(pthread_self(), "cupti-worker");
    State& mine = state();
    for (;;) {
      {
        std::unique_lock<std::mutex> wait(mine.mutex);
        mine.worker_wake.wait_for(wait, std::chrono::milliseconds(script().cupti.worker_ms));
        if (!mine.worker_running || mine.worker_generation != generation) return;
      }
      deliver(false);
    }
  }).detach();
}

}  // namespace sim
