// Fixture for tests of preload/capture in one process. Starts the recorder once with a log in a temporary folder, puts
// a fake driver in place of g_driver, and gives every test empty tables.
#pragma once

#include "preload/capture/streams/depth_marks.h"
#include "preload/capture/streams/stream_table.h"
#include "preload/capture/streams/streams.h"
#include "preload/driver/driver.h"
#include "preload/driver/null_stream.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/log/log_storage.h"
#include "preload/record/thread.h"
#include "tests/unit/preload/recording_child.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <set>

namespace prof::test {

// The part of the driver that capture/ uses. Each thread acts like a program of its own, because contexts are per
// thread.
struct FakeDriver {
  static inline thread_local CUcontext current = nullptr, pushed = nullptr;
  static inline thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  static inline std::atomic<bool> write_fails{false};
  static inline std::atomic<bool> register_fails{false};
  static inline std::atomic<bool> write_is_late{false};  // the GPU writes later: finish_writes()
  static inline std::atomic<CUresult> event_result{CUDA_SUCCESS};
  static inline std::atomic<uint64_t> writes{0}, event_records{0}, event_queries{0}, forbidden{0};
  static inline std::atomic<bool> captures{false};  // a capture is active: no mark may be placed
  static inline void (*while_writing)() = nullptr;
  static inline std::vector<std::pair<CUdeviceptr, uint32_t>> late;
  static inline CUstream capturing = nullptr;

  static void check_allowed() {
    if (captures.load() || mode != CU_STREAM_CAPTURE_MODE_RELAXED) ++forbidden;
  }
  static CUresult exchange_mode(CUstreamCaptureMode* m) {
    std::swap(*m, mode);
    return CUDA_SUCCESS;
  }
  static CUresult get_current(CUcontext* context) {
    *context = current;
    return CUDA_SUCCESS;
  }
  static CUresult get_device(CUdevice* device) {
    *device = 0;
    return CUDA_SUCCESS;
  }
  static CUresult stream_context(CUstream, CUcontext* context) {
    *context = current;
    return CUDA_SUCCESS;
  }
  static CUresult is_capturing(CUstream stream, CUstreamCaptureStatus* status) {
    *status = stream == capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
  }
  static CUresult host_register(void*, size_t, unsigned) {
    return register_fails ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
  }
  static CUresult device_pointer(CUdeviceptr* address, void* host, unsigned) {
    *address = reinterpret_cast<CUdeviceptr>(host);
    return CUDA_SUCCESS;
  }
  static CUresult write_value(CUstream, CUdeviceptr address, cuuint32_t value, unsigned) {
    check_allowed();
    if (while_writing != nullptr) while_writing();
    check_allowed();
    if (write_fails) return CUDA_ERROR_NOT_SUPPORTED;
    ++writes;
    if (write_is_late) {
      late.emplace_back(address, value);
    } else {
      __atomic_store_n(reinterpret_cast<uint32_t*>(address), value, __ATOMIC_RELAXED);
    }
    return CUDA_SUCCESS;
  }
  static void finish_writes() {
    for (const auto& [address, value] : late)
      __atomic_store_n(reinterpret_cast<uint32_t*>(address), value, __ATOMIC_RELAXED);
    late.clear();
  }
  static CUresult event_create(CUevent* event, unsigned) {
    static std::atomic<uintptr_t> next{0x1000};
    *event = reinterpret_cast<CUevent>(next += 16);
    return CUDA_SUCCESS;
  }
  static CUresult event_record(CUevent, CUstream) {
    check_allowed();
    ++event_records;
    return CUDA_SUCCESS;
  }
  static CUresult event_query(CUevent) {
    check_allowed();
    ++event_queries;
    return event_result;
  }
  static CUresult push_context(CUcontext context) {
    check_allowed();
    pushed = std::exchange(current, context);
    return CUDA_SUCCESS;
  }
  static CUresult pop_context(CUcontext* context) {
    *context = std::exchange(current, pushed);
    return CUDA_SUCCESS;
  }

  static void install() {
    preload::Driver driver;
    driver.cuThreadExchangeStreamCaptureMode = exchange_mode;
    driver.cuCtxGetCurrent = get_current;
    driver.cuCtxGetDevice = get_device;
    driver.cuStreamGetCtx = stream_context;
    driver.cuStreamIsCapturing = is_capturing;
    driver.cuMemHostRegister_v2 = host_register;
    driver.cuMemHostGetDevicePointer_v2 = device_pointer;
    driver.cuStreamWriteValue32_v2 = write_value;
    driver.cuEventCreate = event_create;
    driver.cuEventRecord = event_record;
    driver.cuEventQuery = event_query;
    driver.cuCtxPushCurrent_v2 = push_context;
    driver.cuCtxPopCurrent_v2 = pop_context;
    preload::g_driver = driver;
    write_fails = register_fails = write_is_late = captures = false;
    event_result = CUDA_SUCCESS;
    writes = event_records = event_queries = forbidden = 0;
    while_writing = nullptr;
    late.clear();
    capturing = nullptr;
  }
};

inline CUstream stream_handle(uint64_t n) { return reinterpret_cast<CUstream>(0x10000 + 64 * n); }
inline CUevent event_handle(uint64_t n) { return reinterpret_cast<CUevent>(0x900000 + 64 * n); }
inline CUcontext context_handle(uint64_t n) { return reinterpret_cast<CUcontext>(0x500000 + 4096 * n); }

inline uint64_t counted(format::LossCounter counter) {
  return std::atomic_ref(preload::g_log.counters()->counter[static_cast<uint32_t>(counter)]).load();
}

class CaptureTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const TempFolder folder;
    setenv("PROF_OUTPUT", folder.path().c_str(), 1);
    setenv("PROF_GPU", "off", 1);
    unsetenv("PROF_DEPTH");
    preload::read_options(environ, kDefaultOptions);
  }
  void SetUp() override {
    const preload::EventScope scope;
    ASSERT_TRUE(scope.recording());
    ASSERT_TRUE(open_empty_tables());
    FakeDriver::install();
    FakeDriver::current = context_handle(0);
  }
  // The tables of the test before stay mapped, as those of an earlier recording do: the helper thread may be reading
  // them. This thread's last stream is in them.
  static bool open_empty_tables() {
    if (!preload::open_streams(1)) return false;
    preload::t_local.state->last_stream = nullptr;
    return true;
  }
  // For threads of a test: the recorder knows a thread from its first record on.
  static void enter_thread(uint64_t context = 0) {
    const preload::EventScope scope;
    FakeDriver::current = context_handle(context);
  }
  static preload::StreamState* stream(uint64_t n) {
    return preload::stream_state(stream_handle(n), preload::NullStream::Legacy);
  }
  // What the hooks do around a call of the driver that succeeds.
  static void record_event(CUevent event, const preload::StreamState* state) {
    const preload::StreamPoint before = preload::point_so_far(state);
    preload::event_changes(event);
    preload::event_recorded(event, state, before);
  }
  static void finish_event(CUevent event) { preload::event_finished(event, preload::event_point(event)); }
  static void wait_event(preload::StreamState* state, CUevent event) {
    preload::event_awaited(state, event, preload::event_point(event));
  }
  static void synchronize(preload::StreamState* state) { preload::completed(state, preload::point_so_far(state)); }
};

}  // namespace prof::test
