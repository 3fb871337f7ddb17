// Programs whose kernel "heavy" something waits for in a way that a log shows only in part, or not at all. Each case is
// run twice by drivers/bounds.py: as it is, and with a kernel that takes no time. The name of the case is the argument.
#include "tests/sim/sim_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace {

using sim_program::launch;

CUfunction g_heavy, g_light;
CUstream g_one, g_two;

void host_work(uint64_t ns) { sim_advance_ns(ns); }

CUevent event() {
  CUevent made = nullptr;
  SIM_CHECK(cuEventCreate(&made, CU_EVENT_DISABLE_TIMING));
  return made;
}

CUdeviceptr word() {
  void* memory = nullptr;
  SIM_CHECK(cuMemAllocHost(&memory, sizeof(uint64_t)));
  memset(memory, 0, sizeof(uint64_t));
  return reinterpret_cast<CUdeviceptr>(memory);
}

void finish() { SIM_CHECK(cuCtxSynchronize()); }

// Another host thread, or a function that the GPU calls, waits here.
class Signal {
 public:
  void set() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_set_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return is_set_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_set_ = false;
};

void one_stream() {
  for (int i = 0; i < 5; ++i) SIM_CHECK(launch(i % 2 == 0 ? g_heavy : g_light, g_one));
  finish();
}

void two_streams_with_an_event() {
  const CUevent done = event();
  for (int i = 0; i < 3; ++i) {
    SIM_CHECK(launch(g_heavy, g_one));
    SIM_CHECK(cuEventRecord(done, g_one));
    SIM_CHECK(cuStreamWaitEvent(g_two, done, 0));
    SIM_CHECK(launch(g_light, g_two));
  }
  finish();
}

void copies_around_it() {
  const CUdeviceptr memory = sim_program::allocate(1 << 20);
  void* host = nullptr;
  SIM_CHECK(cuMemAllocHost(&host, 1 << 20));
  for (int i = 0; i < 3; ++i) {
    SIM_CHECK(cuMemcpyHtoDAsync(memory, host, 1 << 20, g_one));
    SIM_CHECK(launch(g_heavy, g_one));
    SIM_CHECK(cuMemcpyDtoHAsync(host, memory, 1 << 20, g_one));
    SIM_CHECK(cuStreamSynchronize(g_one));
    host_work(5'000);
  }
  char pageable[256];
  SIM_CHECK(launch(g_heavy, nullptr));
  SIM_CHECK(cuMemcpyDtoH(pageable, memory, sizeof pageable));
  finish();
}

// Freeing memory waits for the GPU.
void freed_behind_it() {
  for (int i = 0; i < 3; ++i) {
    const CUdeviceptr memory = sim_program::allocate(4096);
    SIM_CHECK(launch(g_heavy, g_one));
    SIM_CHECK(cuMemFree(memory));
  }
}

void event_is_polled() {
  const CUevent done = event();
  for (int i = 0; i < 3; ++i) {
    SIM_CHECK(launch(g_heavy, g_one));
    SIM_CHECK(cuEventRecord(done, g_one));
    while (cuEventQuery(done) == CUDA_ERROR_NOT_READY) host_work(700);
    SIM_CHECK(launch(g_light, g_one));
  }
  finish();
}

void stream_is_polled() {
  SIM_CHECK(launch(g_light, g_one));
  SIM_CHECK(launch(g_heavy, g_one));
  while (cuStreamQuery(g_one) == CUDA_ERROR_NOT_READY) {}
  SIM_CHECK(launch(g_light, g_one));
  finish();
}

// The queue of the script holds few operations.
void queue_is_full() {
  for (int i = 0; i < 20; ++i) SIM_CHECK(launch(g_heavy, g_one));
  finish();
}

// One thread waits for the GPU, another one for that thread.
void thread_waits_for_thread() {
  Signal ready;
  CUcontext context = nullptr;
  SIM_CHECK(cuCtxGetCurrent(&context));
  SIM_CHECK(launch(g_light, g_two));
  std::thread other([&] {
    SIM_CHECK(cuCtxSetCurrent(context));
    SIM_CHECK(launch(g_heavy, g_one));
    SIM_CHECK(cuStreamSynchronize(g_one));
    ready.set();
  });
  ready.wait();
  SIM_CHECK(launch(g_light, g_two));
  finish();
  other.join();
}

// A thread that starts only when the GPU has finished.
void thread_starts_after_it() {
  CUcontext context = nullptr;
  SIM_CHECK(cuCtxGetCurrent(&context));
  SIM_CHECK(launch(g_heavy, g_one));
  SIM_CHECK(cuStreamSynchronize(g_one));
  std::thread other([&] {
    SIM_CHECK(cuCtxSetCurrent(context));
    host_work(20'000);
    SIM_CHECK(launch(g_light, g_two));
    SIM_CHECK(cuStreamSynchronize(g_two));
  });
  other.join();
}

void CUDA_CB tell(void* signal) { static_cast<Signal*>(signal)->set(); }

// The GPU tells the host by a function, and the host waits in no call.
void host_function_tells_it() {
  Signal ready;
  SIM_CHECK(launch(g_heavy, g_one));
  SIM_CHECK(cuLaunchHostFunc(g_one, tell, &ready));
  ready.wait();
  SIM_CHECK(launch(g_light, g_two));
  finish();
}

void host_function_between() {
  Signal ready;
  SIM_CHECK(launch(g_heavy, g_one));
  SIM_CHECK(cuLaunchHostFunc(g_one, tell, &ready));
  SIM_CHECK(launch(g_light, g_one));
  finish();
}

void value_is_written() {
  const CUdeviceptr flag = word();
  SIM_CHECK(cuStreamWaitValue32(g_two, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
  SIM_CHECK(launch(g_light, g_two));
  SIM_CHECK(launch(g_heavy, g_one));
  SIM_CHECK(cuStreamWriteValue32(g_one, flag, 1, 0));
  finish();
}

// The host reads the word that a stream writes, without a call.
void value_is_read_by_the_host() {
  const CUdeviceptr flag = word();
  SIM_CHECK(launch(g_heavy, g_one));
  SIM_CHECK(cuStreamWriteValue32(g_one, flag, 1, 0));
  const volatile uint32_t* const seen = reinterpret_cast<const uint32_t*>(flag);
  while (*seen == 0) {}
  SIM_CHECK(launch(g_light, g_two));
  finish();
}

// No recorded call writes the word that the stream waits for.
void value_is_written_by_the_host() {
  const CUdeviceptr flag = word();
  SIM_CHECK(cuStreamWaitValue32(g_two, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
  SIM_CHECK(launch(g_light, g_two));
  SIM_CHECK(launch(g_heavy, g_one));
  SIM_CHECK(cuStreamSynchronize(g_one));
  *reinterpret_cast<volatile uint32_t*>(flag) = 1;
  SIM_CHECK(cuStreamSynchronize(g_two));
}

void default_stream_orders() {
  CUstream blocking = nullptr;
  SIM_CHECK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  for (int i = 0; i < 3; ++i) {
    SIM_CHECK(launch(g_heavy, blocking));
    SIM_CHECK(launch(g_light, nullptr));
    SIM_CHECK(launch(g_light, blocking));
  }
  finish();
}

void two_devices() {
  CUcontext first = nullptr;
  SIM_CHECK(cuCtxGetCurrent(&first));
  const CUevent done = event();
  SIM_CHECK(launch(g_heavy, g_one));
  SIM_CHECK(cuEventRecord(done, g_one));
  sim_program::make_context(1);
  const CUstream there = sim_program::make_stream();
  CUmodule module = nullptr;
  SIM_CHECK(cuModuleLoadData(&module, "image"));
  CUfunction light = nullptr;
  SIM_CHECK(cuModuleGetFunction(&light, module, "light"));
  SIM_CHECK(cuStreamWaitEvent(there, done, 0));
  SIM_CHECK(launch(light, there));
  SIM_CHECK(cuStreamSynchronize(there));
  SIM_CHECK(cuCtxSetCurrent(first));
}

void graph_of_it() {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  SIM_CHECK(cuStreamBeginCapture(g_one, CU_STREAM_CAPTURE_MODE_RELAXED));
  for (int i = 0; i < 3; ++i) SIM_CHECK(launch(i == 1 ? g_heavy : g_light, g_one));
  SIM_CHECK(cuStreamEndCapture(g_one, &graph));
  SIM_CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) {
    SIM_CHECK(cuGraphLaunch(exec, g_one));
    SIM_CHECK(cuStreamSynchronize(g_one));
  }
}

// The host reads a word that a copy after the kernel writes. No call shows it.
void copied_word_is_read_by_the_host() {
  const CUdeviceptr flag = word(), there = sim_program::allocate(sizeof(uint32_t));
  SIM_CHECK(cuMemsetD32(there, 1, 1));
  SIM_CHECK(launch(g_heavy, g_one));
  SIM_CHECK(cuMemcpyDtoHAsync(reinterpret_cast<void*>(flag), there, sizeof(uint32_t), g_one));
  const volatile uint32_t* const seen = reinterpret_cast<const uint32_t*>(flag);
  while (*seen == 0) {}
  SIM_CHECK(launch(g_light, g_two));
  finish();
}

// The script lets "light" run until "heavy" has ended.
void kernels_share_the_gpu() {
  SIM_CHECK(launch(g_heavy, g_one));
  SIM_CHECK(launch(g_light, g_two));
  SIM_CHECK(launch(g_light, g_two));
  finish();
}

// A collective on one GPU ends when the other GPU has reached it.
void collective_waits_for_another_gpu() {
  CUcontext first = nullptr;
  SIM_CHECK(cuCtxGetCurrent(&first));
  sim_program::make_context(1);
  const CUstream there = sim_program::make_stream();
  CUmodule module = nullptr;
  CUfunction heavy = nullptr;
  SIM_CHECK(cuModuleLoadData(&module, "image"));
  SIM_CHECK(cuModuleGetFunction(&heavy, module, "heavy"));
  SIM_CHECK(launch(heavy, there));
  SIM_CHECK(cuCtxSetCurrent(first));
  SIM_CHECK(launch(sim_program::kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), g_one));
  SIM_CHECK(launch(g_light, g_one));
  SIM_CHECK(cuStreamSynchronize(g_one));
}

// The program runs ahead and is limited by its own work when the kernel takes no time.
void host_is_late() {
  for (int i = 0; i < 10; ++i) {
    SIM_CHECK(launch(g_heavy, g_one));
    host_work(i % 3 == 0 ? 40'000 : 2'000);
    if (i % 4 == 3) SIM_CHECK(cuStreamSynchronize(g_one));
  }
  finish();
}

// A process waits for another one, which uses another GPU. The message never arrives before the second one's clock has
// reached its time.
void process_waits_for_process() {
  int ends[2];
  if (pipe(ends) != 0) exit(98);
  const pid_t child = fork();
  if (child == 0) {
    sim_program::make_context(1);
    const CUstream stream = sim_program::make_stream();
    SIM_CHECK(launch(sim_program::kernel("heavy"), stream));
    SIM_CHECK(cuStreamSynchronize(stream));
    const uint64_t now = sim_now_ns();
    if (write(ends[1], &now, sizeof now) != sizeof now) exit(98);
    exit(0);
  }
  sim_program::make_context();
  const CUstream stream = sim_program::make_stream();
  SIM_CHECK(launch(sim_program::kernel("light"), stream));
  SIM_CHECK(cuStreamSynchronize(stream));
  uint64_t sent = 0;
  if (read(ends[0], &sent, sizeof sent) != sizeof sent) exit(98);
  if (sent > sim_now_ns()) sim_advance_ns(sent - sim_now_ns());
  SIM_CHECK(launch(sim_program::kernel("light"), stream));
  SIM_CHECK(cuStreamSynchronize(stream));
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) exit(98);
}

}  // namespace

int main(int, char** arguments) {
  // These make their own contexts, after fork.
  static const std::map<std::string, void (*)()> of_processes = {
      {"process_waits_for_process", process_waits_for_process},
  };
  static const std::map<std::string, void (*)()> cases = {
      {"one_stream", one_stream},
      {"two_streams_with_an_event", two_streams_with_an_event},
      {"copies_around_it", copies_around_it},
      {"freed_behind_it", freed_behind_it},
      {"event_is_polled", event_is_polled},
      {"stream_is_polled", stream_is_polled},
      {"queue_is_full", queue_is_full},
      {"thread_waits_for_thread", thread_waits_for_thread},
      {"thread_starts_after_it", thread_starts_after_it},
      {"host_function_tells_it", host_function_tells_it},
      {"host_function_between", host_function_between},
      {"value_is_written", value_is_written},
      {"value_is_read_by_the_host", value_is_read_by_the_host},
      {"value_is_written_by_the_host", value_is_written_by_the_host},
      {"default_stream_orders", default_stream_orders},
      {"two_devices", two_devices},
      {"graph_of_it", graph_of_it},
      {"host_is_late", host_is_late},
      {"copied_word_is_read_by_the_host", copied_word_is_read_by_the_host},
      {"kernels_share_the_gpu", kernels_share_the_gpu},
      {"collective_waits_for_another_gpu", collective_waits_for_another_gpu},
  };
  if (arguments[1] == nullptr) {
    for (const auto* const some : {&cases, &of_processes}) {
      for (const auto& [name, run] : *some) puts(name.c_str());
    }
    return 0;
  }
  if (const auto found = of_processes.find(arguments[1]); found != of_processes.end()) {
    found->second();
    return 0;
  }
  sim_program::make_context();
  g_heavy = sim_program::kernel("heavy");
  g_light = sim_program::kernel("light");
  g_one = sim_program::make_stream();
  g_two = sim_program::make_stream();
  cases.at(arguments[1])();
}
