// The simulated CUPTI's state, shared by its files. Lock order: device (libcuda) -> State::mutex. No callback of the
// program runs under State::mutex; State::delivery serialises the callbacks that deliver buffers.
#pragma once
#include <cupti.h>

#include <atomic>
#include <bitset>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "tests/sim/activity_sink.h"
#include "tests/sim/script.h"

namespace sim {

constexpr size_t kDriverCallbacks = CUPTI_DRIVER_TRACE_CBID_SIZE;
constexpr size_t kKinds = 60;  // of CUPTI 13.2 to 13.5; the headers may have fewer
static_assert(kKinds >= CUPTI_ACTIVITY_KIND_COUNT);
constexpr size_t kRuntimeCallbacks = CUPTI_RUNTIME_TRACE_CBID_SIZE;

struct ApiRecord {
  CUpti_ActivityKind kind;
  uint32_t cbid, thread, correlation;
  uint64_t begin, end;  // already on CUPTI's clock
  int result;
};
struct ExternalRecord {
  CUpti_ExternalCorrelationKind kind;
  uint64_t id;
  uint32_t correlation;
};
// Pages of managed memory that a copy moved: to the GPU if the copy wrote them, to the CPU if it read them.
struct Migration {
  Ns start, end;
  uint64_t bytes;
  uint32_t device;
  bool to_device;
};
using Finished = std::variant<OperationRecord, GraphRun, ApiRecord, ExternalRecord, Migration>;

struct Buffer {
  uint8_t* memory = nullptr;
  size_t size = 0, used = 0, records = 0, max_records = 0;
  Ns due = 0;  // of machine_ns()
};

struct Subscriber {
  bool scoped = false;   // by cuptiSubscribe_v2
  bool several = false;  // it allows others
  std::string name = "<not provided>";
  CUpti_CallbackFunc callback = nullptr;
  void* user = nullptr;
  std::bitset<kDriverCallbacks> driver;
  std::bitset<kRuntimeCallbacks> runtime;
  std::bitset<CUPTI_CBID_RESOURCE_SIZE> resource;
};

uint64_t CUPTIAPI real_time();  // the clock of CUPTI unless another one is registered: CLOCK_REALTIME in ns

// Which activity API is used: they exclude each other.
enum class Scope { None, Global, Subscriber };

struct State {
  std::mutex mutex;
  Scope scope = Scope::None;
  bool global_kinds = false;        // the global API enabled a kind
  bool operations_stopped = false;  // a subscriber left while the global API was used: no operation has a record
  std::atomic<const DriverInternals*> driver{nullptr};
  bool attached = false;

  std::bitset<kKinds> enabled;
  std::map<CUpti_ActivityKind, std::set<uint32_t>> enabled_in;  // by context id
  std::bitset<kDriverCallbacks> driver_api;
  std::bitset<kRuntimeCallbacks> runtime_api;
  bool driver_kind_alone = false;  // KIND_DRIVER is enabled and no single driver call is
  bool unified_configured = false;

  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::deque<Finished> finished;  // complete, not yet in a buffer
  uint64_t seen = 0, dropped = 0, buffers = 0;
  std::atomic<bool> graph_launched{false};  // while driver calls are recorded

  std::recursive_mutex delivery;  // guards the next two; recursive: a callback of the program may flush
  Buffer open;
  std::deque<Buffer> full;

  std::atomic<CUpti_TimestampCallbackFunc> timestamp{real_time};
  std::vector<std::pair<Ns, uint64_t>> anchors;  // (simulator's clock, callback's clock), both ascending

  CUpti_ActivityThreadIdType thread_id_type = CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
  std::map<CUpti_ActivityAttribute, std::vector<uint8_t>> attributes;

  std::unique_ptr<Subscriber> subscriber;
  std::vector<std::unique_ptr<Subscriber>> others;  // they have callbacks; only the first one may collect activity
  bool worker_running = false;
  uint64_t worker_generation = 0;
  std::condition_variable worker_wake, drained;
};

State& state();
// In each function that CUPTI exports: the script may say what it leaves in errno.
struct LeavesErrno {
  ~LeavesErrno() {
    if (script().cupti.sets_errno != 0) errno = script().cupti.sets_errno;
  }
};
CUptiResult noted(CUptiResult result);  // a failure becomes the thread's last error
// PC sampling (cupti_pc_sampling.cpp).
bool pc_sampling_enabled();                                     // on any context
void pc_sees(State& now, const OperationRecord& record);        // may only queue
void pc_module_loaded(State& now, const ModuleRecord& module);  // calls the program's CRC callback
void pc_context_ends(CUcontext context);
bool pm_sampling_enabled();  // cupti_samples.cpp
CUptiResult attach();        // finds the driver, becomes its sink
void detach();
CUptiResult enable_kind(CUpti_ActivityKind kind, bool on);
CUptiResult refusal(CUpti_ActivityKind kind);  // the error with which every enabling of the kind fails
uint64_t thread_of_half(const uint8_t* half);  // pthread_self() of a thread that was in a call, by its low half
uint64_t clock_now(State& now);                // CUPTI's clock; adds an anchor if a callback gives the time
uint64_t translate(State& now, Ns moment);     // with the mutex
void deliver(bool partly_filled);              // moves finished records into buffers and delivers complete buffers
void start_worker();
void counters_see(const OperationRecord& record);  // cupti_counters.cpp; may only queue
size_t record_size(CUpti_ActivityKind kind);
size_t write_record(State& now, const Finished& from, uint8_t* to);  // with the mutex

}  // namespace sim
