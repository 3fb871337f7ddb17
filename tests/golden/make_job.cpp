// make_job FOLDER [OPTION VALUE]...: writes the logs of a job of many ranks, one log a rank, as text that becomes a
// log. Every rank runs the same steps: a copy to the GPU, kernels, an all-reduce that ends when the last rank has come,
// and a wait of the host. job_noise.h has the noise. One seed makes one job.
//   --ranks N, --steps N, --calls N (of each kernel in a step), --seed N
//   --slow-kernel RANK:KERNEL:FACTOR (KERNEL *: all), --slow-copy RANK:FACTOR, --slow-host RANK:FACTOR
//   --gpu RANK:NAME    the GPU of a rank has that name
//   --last-steps RANK:N  the rank ends after N steps
//   --collectives 1    starts of calls of NCCL are recorded, and logs go on for 40 s after the last step
//   --absent RANK:N    N ranks from RANK on do not enter the last all-reduce, which then hangs
//   --text 1           writes rank_N.log.txt, the texts of the logs, instead
#include "tests/golden/job_noise.h"
#include "tests/golden/undump_log.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

namespace {

using prof::tests::JobNoise;
using prof::tests::kRealCopy;
using prof::tests::kRealDurations;
using prof::tests::kRealKernels;

struct Fault {
  uint32_t rank = UINT32_MAX;
  std::string name;
  double factor = 1;
};

struct JobPlan {
  std::string folder;
  uint32_t ranks = 8, steps = 10, calls = 1;
  uint64_t seed = 1;
  bool text = false, collectives = false;
  Fault kernel, copy, host, gpu, last, absent;

  bool hangs() const { return absent.rank != UINT32_MAX; }
  bool is_absent(uint32_t rank) const {
    return hangs() && rank >= absent.rank && rank - absent.rank < static_cast<uint32_t>(absent.factor);
  }
};

// What a rank did: a launch with its operation, or another line of text between them.
struct Event {
  enum Kind : uint8_t { Kernel, Copy, Collective, Wait, StepBegin, StepEnd } kind{};
  uint32_t number = 0;  // of the kernel or step
  int64_t begin_ns = 0, end_ns = 0;
  int64_t start_ns = 0, duration_ns = 0;  // on the GPU
};

struct Rank {
  double rate = 1;
  int64_t host_ns = 0, gpu_ns = 0;
  std::vector<Event> events;

  void launch(Event::Kind kind, uint32_t number, double duration_ns) {
    Event event{kind, number, host_ns, host_ns + 4000, 0, static_cast<int64_t>(duration_ns)};
    event.start_ns = std::max(event.end_ns + 1000, gpu_ns + 700);
    gpu_ns = event.start_ns + event.duration_ns;
    host_ns += 5000;
    events.push_back(event);
  }
};

constexpr uint32_t kCollective = kRealKernels + 1;  // its number as a kernel of the log; kernels have 1 and more
constexpr int64_t kHangNs = 40'000'000'000, kNotFinished = -1;

std::string log_text(const JobPlan& plan, uint32_t number, const Rank& rank) {
  constexpr int64_t kStart = 1'000'000;
  const bool other_gpu = number == plan.gpu.rank;
  std::string text = fmt::format(
      "prof-log-text 1\n"
      "header pid={} clock=0 start_tick={} start_monotonic_ns={} start_realtime_ns=1700000000000000000\n"
      "page finished={}\nblock definitions thread=1\n"
      "meta key=\"host\" value=\"node{:03}\"\nmeta key=\"rank\" value=\"{}\"\nmeta key=\"world_size\" value=\"{}\"\n"
      "gpu_clock base_tick=0 base_ns=0 multiplier=1 shift=0\n",
      100 * plan.seed + number % 8, kStart, kStart, plan.collectives ? 0 : rank.host_ns + 2 * kStart, number / 8,
      number, plan.ranks);
  uint32_t string = 0;
  const auto add_string = [&](const std::string& value) {
    text += fmt::format("string id={} total_bytes={} offset=0 text=\"{}\"\n", ++string, value.size(), value);
    return string;
  };
  text += "api id=1 name=\"cuLaunchKernel\"\napi id=2 name=\"cuMemcpyHtoDAsync_v2\"\n";
  text += "api id=3 name=\"cuStreamSynchronize\"\n";
  text += fmt::format("device ordinal=0 name=\"{}\" uuid=\"{:032x}\"\n", other_gpu ? plan.gpu.name : "NVIDIA H200",
                      number + 1);
  text += "gpu_stream id=1 device=0 context=1 stream=7\n";
  for (uint32_t k = 1; k <= kCollective; ++k) {
    const std::string name =
        k == kCollective ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL" : std::string(kRealDurations[k - 1].name);
    const uint32_t id = add_string(name);
    text += fmt::format("function id={0} name={1} module=1 handle={2} generation=0\n", k, id, 4096 + k);
    text += fmt::format(
        "config id={0} api=1 function={0} grid_x={1} grid_y=1 grid_z=1 block_x=128 block_y=1 block_z=1 shared_bytes=0 "
        "attributes=0\n"
        "gpu_kernel id={0} name={2} grid_x={1} grid_y=1 grid_z=1 block_x=128 block_y=1 block_z=1 registers=32 "
        "static_shared_bytes=0 dynamic_shared_bytes=0 local_bytes=0 launch_type=0\n",
        k, 64 * k, id);
  }
  for (uint32_t step = 0; step < plan.steps; ++step) {
    if (step % 16 == 0) text += "block definitions thread=1\n";
    const uint32_t id = add_string(fmt::format("step {}", step));
    text += fmt::format("nvtx_label id={} domain=0 text={} category=0 has_color=0 color=0\n", step + 1, id);
  }
  const uint32_t init_label = plan.steps + 1, call_label = plan.steps + 2;
  if (plan.collectives) {
    text += fmt::format("nvtx_domain id=1 name={}\n", add_string("library"));
    const std::string member = fmt::format("ranks={}, rank={})", plan.ranks, number);
    for (const auto& [label, call] : {std::pair(init_label, "ncclCommInitRank("),
                                      std::pair(call_label, "ncclAllReduce(count=1048576, type=fp32, op=sum, ")})
      text += fmt::format("nvtx_label id={} domain=1 text={} category=0 has_color=0 color=0\n", label,
                          add_string(call + member));
  }
  uint32_t correlation = 1, in_block = 1000, sequence = 0;
  std::string calls;
  // A call of NCCL: its start, what it launched, and its return.
  const auto start_of_call = [&](int64_t at, uint32_t label) {
    if (plan.collectives)
      text += fmt::format("collective time={} communicator=2748 sequence={} label={}\n", at, sequence++, label);
  };
  const auto end_of_call = [&](int64_t at, int64_t duration, uint32_t label) {
    if (plan.collectives) text += fmt::format("library_call end={} duration={} label={}\n", at, duration, label);
  };
  for (const Event& event : rank.events) {
    if (++in_block > 40) {
      if (!calls.empty()) text += fmt::format("driver_calls tid=10 calls=[{}]\n", calls);
      calls.clear();
      const bool first = in_block > 1000;
      in_block = 0;
      text += "block events thread=1\n";
      if (first) {
        text += fmt::format("thread thread=1 tid=10 first_tick={} name=\"app\"\n", kStart);
        start_of_call(kStart, init_label);
        end_of_call(kStart + 100, 100, init_label);
      }
    }
    const int64_t end = kStart + event.end_ns;
    switch (event.kind) {
      case Event::StepBegin: text += fmt::format("nvtx_push time={} label={}\n", end, event.number + 1); continue;
      case Event::StepEnd: text += fmt::format("nvtx_pop time={}\n", end); continue;
      case Event::Wait:
        text += fmt::format("api_call end={} duration={} api=3 stream=0\n", end, event.end_ns - event.begin_ns);
        continue;
      case Event::Copy:
        text += fmt::format("memory_launch end={} duration=4000 api=2 stream=0 depth=0 bytes=16777216\n", end);
        text += fmt::format("copy_run start={} duration={} correlation={} stream=1 bytes=16777216 kind={}\n",
                            kStart + event.start_ns, event.duration_ns, correlation, 1 | 2 << 8 | 3 << 16);
        break;
      case Event::Kernel:
      case Event::Collective: {
        const bool collective = event.kind == Event::Collective;
        if (collective) start_of_call(end - 4500, call_label);
        text += fmt::format("kernel_launch end={} duration=4000 config={} stream=0 depth=0\n", end, event.number);
        if (collective) end_of_call(end + 300, 4800, call_label);
        if (event.duration_ns != kNotFinished)
          text += fmt::format("kernel_run start={} duration={} correlation={} stream=1 kernel={}\n",
                              kStart + event.start_ns, event.duration_ns, correlation, event.number);
        break;
      }
    }
    calls += fmt::format("{}{}:{}", calls.empty() ? "" : " ", end - 2000, correlation++);
  }
  if (!calls.empty()) text += fmt::format("driver_calls tid=10 calls=[{}]\n", calls);
  if (plan.collectives) {
    const int64_t last = kStart + rank.host_ns + kHangNs;
    text += fmt::format("clock_anchor tick={0} monotonic_ns={0} realtime_ns={1}\n", last,
                        1'700'000'000'000'000'000 + last - kStart);
  }
  return text;
}

std::vector<Rank> run_job(const JobPlan& plan) {
  JobNoise noise(plan.seed);
  std::vector<Rank> ranks(plan.ranks);
  for (Rank& rank : ranks) rank.rate = noise.rank_rate();
  for (uint32_t step = 0; step < plan.steps; ++step) {
    int64_t ready_ns = 0;
    const bool is_last = step + 1 == plan.steps;
    const auto is_in = [&](uint32_t r) {
      return r != plan.last.rank || step < static_cast<uint32_t>(plan.last.factor);
    };
    for (uint32_t r = 0; r < plan.ranks; ++r) {
      if (!is_in(r)) continue;
      Rank& rank = ranks[r];
      rank.events.push_back({Event::StepBegin, step, rank.host_ns, rank.host_ns, 0, 0});
      rank.host_ns += static_cast<int64_t>(noise.host_ns() * (r == plan.host.rank ? plan.host.factor : 1));
      rank.launch(Event::Copy, 0, noise.duration_ns(kRealCopy) / 8 * (r == plan.copy.rank ? plan.copy.factor : 1));
      for (uint32_t k = 0; k < kRealKernels * plan.calls; ++k) {
        const uint32_t kernel = k % kRealKernels;
        const bool slow =
            r == plan.kernel.rank && (plan.kernel.name == "*" || kRealDurations[kernel].name == plan.kernel.name);
        rank.launch(Event::Kernel, kernel + 1, noise.duration_ns(kernel) * rank.rate * (slow ? plan.kernel.factor : 1));
      }
      if (is_last && plan.is_absent(r)) continue;
      rank.launch(Event::Collective, kCollective, 0);
      ready_ns = std::max(ready_ns, rank.gpu_ns);
    }
    for (uint32_t r = 0; r < plan.ranks; ++r) {
      if (!is_in(r)) continue;
      Rank& rank = ranks[r];
      if (is_last && plan.hangs()) {
        if (!plan.is_absent(r)) rank.events.back().duration_ns = kNotFinished;
        continue;
      }
      Event& collective = rank.events.back();
      const double transfer_ns = 150'000 * noise.uniform(0.98, 1.02);
      collective.duration_ns = ready_ns + static_cast<int64_t>(transfer_ns) - collective.start_ns;
      rank.gpu_ns = collective.start_ns + collective.duration_ns;
      const int64_t begin = rank.host_ns;
      rank.host_ns = std::max(begin + 1000, rank.gpu_ns + 3000);
      rank.events.push_back({Event::Wait, 0, begin, rank.host_ns, 0, 0});
      rank.events.push_back({Event::StepEnd, step, rank.host_ns, rank.host_ns + 100, 0, 0});
      rank.host_ns += 200;
    }
  }
  return ranks;
}

// RANK:NAME:FACTOR, RANK:NAME or RANK:FACTOR.
Fault fault_of(const std::string& word) {
  Fault fault;
  const size_t first = word.find(':'), last = word.rfind(':');
  fault.rank = static_cast<uint32_t>(std::strtoul(word.c_str(), nullptr, 10));
  if (first == std::string::npos) return fault;
  fault.name = word.substr(first + 1, last == first ? std::string::npos : last - first - 1);
  fault.factor = std::strtod(word.c_str() + last + 1, nullptr);
  return fault;
}

bool write_file(const std::string& path, const char* bytes, size_t count) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  const bool written = file != nullptr && std::fwrite(bytes, 1, count, file) == count;
  return file != nullptr && std::fclose(file) == 0 && written;
}

}  // namespace

int main(int argc, char** argv) {
  JobPlan plan;
  if (argc < 2 || argc % 2 != 0) {
    std::fprintf(stderr, "usage: make_job FOLDER [OPTION VALUE]...; make_job.cpp lists the options\n");
    return 2;
  }
  plan.folder = argv[1];
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string option = argv[i], value = argv[i + 1];
    const auto number = std::strtoull(value.c_str(), nullptr, 10);
    if (option == "--ranks")
      plan.ranks = static_cast<uint32_t>(number);
    else if (option == "--steps")
      plan.steps = static_cast<uint32_t>(number);
    else if (option == "--calls")
      plan.calls = static_cast<uint32_t>(number);
    else if (option == "--seed")
      plan.seed = number;
    else if (option == "--text")
      plan.text = number != 0;
    else if (option == "--slow-kernel")
      plan.kernel = fault_of(value);
    else if (option == "--slow-copy")
      plan.copy = fault_of(value);
    else if (option == "--slow-host")
      plan.host = fault_of(value);
    else if (option == "--gpu")
      plan.gpu = fault_of(value);
    else if (option == "--collectives")
      plan.collectives = number != 0;
    else if (option == "--absent")
      plan.absent = fault_of(value);
    else if (option == "--last-steps")
      plan.last = fault_of(value);
    else {
      std::fprintf(stderr, "make_job: no option %s\n", option.c_str());
      return 2;
    }
  }
  std::filesystem::create_directories(plan.folder);
  const std::vector<Rank> ranks = run_job(plan);
  for (uint32_t r = 0; r < plan.ranks; ++r) {
    const std::string text = log_text(plan, r, ranks[r]);
    const std::string path = fmt::format("{}/rank_{:04}", plan.folder, r);
    std::vector<uint8_t> log;
    const std::string wrong = plan.text ? "" : prof::tests::undump_log(text, log);
    if (!wrong.empty()) {
      std::fprintf(stderr, "make_job: rank %u: %s\n", r, wrong.c_str());
      return 2;
    }
    const bool written = plan.text ? write_file(path + ".log.txt", text.data(), text.size())
                                   : write_file(path + ".plog", reinterpret_cast<const char*>(log.data()), log.size());
    if (!written) {
      std::fprintf(stderr, "make_job: cannot write %s\n", path.c_str());
      return 2;
    }
  }
  return 0;
}
