// The script of the simulated machine: durations, costs, device names and faults, read once from SIM_SCRIPT (a file)
// and SIM (the same lines, separated by ';'). The lines are documented in docs/simulator.md.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/clock.h"

namespace sim {

struct Fault {
  uint64_t first = 1, last = 1;  // calls, counted from 1, that return `result` instead of running
  int result = 0;
};

struct DeviceScript {
  std::string name = "Simulated H200";
  int major = 9, minor = 0, multiprocessors = 132;
  uint64_t memory_bytes = 150754820096;  // an H200's
};

struct KernelScript {
  Ns duration = 5000;
  bool overlaps =
      false;             // may start while the previous kernel on the stream still runs (programmatic dependent launch)
  bool asserts = false;  // its assertion fails: the context ends with CUDA_ERROR_ASSERT, and the kernel has no record
  int registers = 32, static_shared = 0;
  std::string until;  // it runs until the kernels of this name have ended that run when it gets its times
};

struct CuptiScript {
  uint64_t drop_every = 0;         // every Nth record is lost and counted
  uint64_t late_ms = 0;            // a buffer is delivered this much later (wall time)
  uint64_t lose_buffer_every = 0;  // every Nth buffer is never delivered
  bool flush_hangs = false;
  uint64_t enable_ms = 0;     // duration of cuptiActivityEnable (wall time)
  bool forced_kills = false;  // a forced flush while kernels are being collected ends the process
  bool child_dies = false;
  int enable_result = 0;             // CUptiResult of cuptiActivityEnable
  bool no_graph_ids = false;         // cuptiGetGraphId and similar functions: NOT_SUPPORTED
  bool no_graph_trace = false;       // whole graphs cannot be traced: NOT_SUPPORTED
  bool absent_driver_api = false;    // cuptiActivityEnableDriverApi: NOT_SUPPORTED, as in a libcupti without it
  uint64_t worker_ms = 10;           // the period of the worker thread (wall time)
  uint64_t backlog = 0;              // a call waits while more records than this are not yet in a buffer; 0: never
  uint32_t version = 0;              // 0: the header's
  int sets_errno = 0;                // what each function leaves in errno; 0: errno is not set
  bool counters_absent = false;      // any call of the range profiler ends the process
  std::string counters_hang;         // this function of the range profiler never returns
  std::string counters_unsupported;  // the field of CUpti_Profiler_DeviceSupported_Params that reports "unsupported"
  uint64_t counters_drop = 0;        // every Nth range is dropped and counted
  uint64_t samples_most = 0;         // decoding returns nothing after so many samples; 0: no limit
  uint64_t samples_buffer = 0;       // how many samples the buffer of PM sampling holds; 0: any number
  bool samples_by_clock = false;     // PM sampling has no trigger by time
  uint64_t pc_buffer = 0;            // how many PC samples the hardware's buffer holds; 0: any number
  uint64_t pc_dropped = 0;           // PC samples that each run of a sampled kernel loses
  uint64_t pc_data_ms = 0;           // duration of cuptiPCSamplingGetData (wall time)
};

// What PC sampling takes at each run of a kernel, at a period of 2^16 cycles.
struct PcScript {
  std::string kernel;
  uint64_t offset = 0, samples = 0;
  uint32_t reason = 0;
};

struct Script {
  std::vector<DeviceScript> devices{DeviceScript{}, DeviceScript{}};
  int driver_version = 13000;
  Ns api_cost = 1000;
  std::map<std::string, Ns, std::less<>> api_costs;
  std::map<std::string, KernelScript, std::less<>> kernels;
  std::vector<PcScript> pcs;
  KernelScript default_kernel;
  Ns launch_latency = 1000;  // from the end of the API call to the earliest start
  bool early_start = false;  // operations may start in the middle of their API call
  Ns host_func = 1000;
  Ns copy_setup = 1000;
  double h2d = 25, d2h = 25, d2d = 2000, p2p = 200, h2h = 10;  // bytes per ns (GB/s)
  double memset_rate = 2000;
  uint64_t first_call_ms = 20;  // wall time of the first cuInit and of the first context, if there are other threads
  uint64_t max_outstanding = 1024;      // a launch above this number waits for the stream; 0: never
  bool internal_memset_kernel = false;  // cuMemset* also runs a kernel without an API record
  uint64_t idle_ms =
      200;  // virtual clock: if no API call advanced it for this long (wall time), the device catches up; 0: never
  int sets_errno = 0;  // each call leaves this plus its callback id in errno; 0: errno is not set
  bool timed = false;  // real clock: operations take their scripted time even if CUPTI is off
  std::map<std::string, std::vector<Fault>, std::less<>> faults;
  // symbols that the driver does not have: cuGetProcAddress and similar lookups do not find them
  std::vector<std::string> absent;
  std::string request_log;  // file to which every cuGetProcAddress and cuGetExportTable request is appended
  CuptiScript cupti;

  const KernelScript& kernel(std::string_view name) const;
  bool is_absent(std::string_view symbol) const;
};

const Script& script();  // reads the environment at the first use; an invalid line ends the process with a message

void parse_script(Script& into, std::string_view text, const char* where);

}  // namespace sim
