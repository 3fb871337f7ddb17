// The objects of driver handles: devices, contexts, streams, events, modules, functions, allocations. Plain data;
// device.h moves time over them. Everything here is guarded by device_mutex() unless the comment names another lock.
#pragma once
#include <pthread.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/activity_sink.h"
#include "tests/sim/object_pool.h"
#include "tests/sim/script.h"

namespace sim {

struct Operation;
using OperationPtr = std::shared_ptr<Operation>;
struct Capture;
struct Context;
struct GreenContext;
struct Pool;
struct Graph;
struct Node;

struct Device {
  int ordinal = 0;   // the program's number
  int physical = 0;  // the script's number
  DeviceScript told;
  Context* primary = nullptr;       // while it is active
  Context* last_primary = nullptr;  // its memory
  unsigned primary_references = 0, primary_flags = 0;
  uint64_t allocated_bytes = 0;
  Pool* default_pool = nullptr;  // made at the first request
  Pool* pool = nullptr;          // the current one; null: the default pool
};

struct Stream {
  enum class Kind { Legacy, PerThread, Created };
  Context* context = nullptr;
  Kind kind = Kind::Created;
  unsigned flags = 0;
  int priority = 0;
  uint32_t cupti_id = 0;
  unsigned long long id = 0;
  OperationPtr tail;                 // the last operation submitted
  std::deque<OperationPtr> pending;  // submitted, not finished
  Capture* capture = nullptr;
  std::atomic<bool> capturing{false};  // capture != nullptr, readable without the lock
  CUstreamAttrValue access_policy{};
};

struct Context {
  uint32_t id = 0;
  Device* device = nullptr;
  bool primary = false, destroyed = false;
  unsigned flags = 0, api_version = 13000;
  Stream* legacy = nullptr;
  std::map<pthread_t, Stream*> per_thread;
  std::set<Stream*> streams;      // created ones
  uint32_t next_stream = 13;      // CUPTI's ids: 7 for the default stream, then 13, 14 ...
  GreenContext* green = nullptr;  // the green context whose CUcontext this is
  std::map<int, size_t> limits;
  std::map<std::pair<const void*, unsigned>, std::pair<void*, void*>> local_storage;  // cudart's
};

struct Event {
  Context* context = nullptr;
  unsigned flags = 0;
  OperationPtr operation;       // what the last record submitted to a stream; NULL before the first
  Capture* capture = nullptr;   // the last record was inside this capture ...
  std::vector<Node*> captured;  // ... after these nodes
};

struct Image;

struct Function {  // a CUfunction, or a CUkernel before a context requested its function
  const char* name = "";
  Image* image = nullptr;
  const KernelScript* told = nullptr;
  bool is_kernel = false;
  int max_dynamic_shared = 0, carveout = -1;
};

struct Image {  // a CUmodule or a CUlibrary
  Context* context = nullptr;
  bool is_library = false;
  std::map<std::string, Function*, std::less<>> functions;
  std::map<std::string, CUdeviceptr, std::less<>> globals;
  Image* module = nullptr;  // a library's module
  uint32_t slot = 0;        // where its code is; free again after the unload
  std::string cubin;        // the contents as CUPTI passes them
};

struct Pool {  // guarded by the mutex of the allocations
  Device* device = nullptr;
  bool standard = false;   // a device's default pool
  bool destroyed = false;  // freed with its last allocation
  size_t most_bytes = 0;   // 0: as much as the device has
  uint64_t threshold = 0, used = 0, most_used = 0, reserved = 0, most_reserved = 0;
};

struct Allocation {
  enum class Kind { Device, Host, Managed, Registered };
  Kind kind = Kind::Device;
  CUdeviceptr base = 0;
  size_t bytes = 0;
  Device* device = nullptr;
  Context* context = nullptr;
  unsigned flags = 0;
  bool mapped = false;  // mmap, not malloc
  unsigned long long id = 0;
  Pool* pool = nullptr;  // its pool
};

// Handles are the addresses of these objects.
template <class T, class Handle> inline T* object(Handle handle) { return reinterpret_cast<T*>(handle); }
template <class Handle, class T> inline Handle handle_of(T* one) { return reinterpret_cast<Handle>(one); }

std::mutex& device_mutex();
Device* device_at(CUdevice ordinal);  // NULL: no such device
int device_count();
const char* intern(const std::string& text);  // never freed

Context* current_context();
void push_context(Context* context);
Context* pop_context();
void set_current_context(Context* context);
void forget_context(Context* context);
bool initialised();
void announce(Context* context);  // to CUPTI
void destroy_context(Context* context);
Context* make_context(Device* device, bool primary);
bool context_exists(Context* context);
std::vector<Context*> all_contexts();

// NULL, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD become streams of the current context. If the result is NULL,
// why_no_stream() returns the reason.
Stream* resolve_stream(CUstream handle);
CUresult create_stream(Context* context, CUstream* out, unsigned flags, int priority);
CUresult why_no_stream();  // for this thread's last handle without a stream
ObjectPool<Stream>& stream_pool();
ObjectPool<Event>& event_pool();
Stream* resolve_stream_in(Context* context, CUstream handle, bool per_thread);

const Allocation* find_allocation(CUdeviceptr address);

}  // namespace sim
