#include "preload/lifecycle/describe.h"

#include "preload/base/about.h"
#include "preload/base/clock.h"
#include "preload/base/decimal.h"
#include "preload/base/environment.h"
#include "preload/base/options.h"
#include "preload/base/processor.h"
#include "preload/format/secrets.h"
#include "preload/log/log_name.h"
#include "preload/log/log_storage.h"
#include "preload/record/append.h"
#include "preload/record/gpu_clock.h"
#include "preload/record/intern.h"
#include "preload/record/texts.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace prof::preload {

void describe_header() {
  format::FileHeader& header = *g_log.header();
  const ClockReading now = read_clocks();
  header.version = format::kFormatVersion;
  header.header_bytes = format::kHeaderBytes;
  header.block_bytes = format::kBlockBytes;
  header.pid = static_cast<uint32_t>(getpid());
  header.clock = g_clock.source;
  header.backing = g_log.backing();
  header.start_tick = now.tick;
  header.start_monotonic_ns = now.monotonic_ns;
  header.start_realtime_ns = now.realtime_ns;
  header.ticks_per_second = g_clock.ticks_per_second;
  char* const text = reinterpret_cast<char*>(&header + 1);
  char* const end = reinterpret_cast<char*>(&header) + format::kHeaderBytes;
  char* at = text;
  format::AllKinds::for_each([&]<class T>() { at = format::put_signature<T>(at, end); });
  header.kind_table_bytes = static_cast<uint32_t>(at - text);
  const char* const names = at;
  for (const format::CounterInfo& info : format::kCounters) {
    if (static_cast<size_t>(end - at) <= info.name.size()) break;
    std::memcpy(at, info.name.data(), info.name.size());
    at += info.name.size();
    *at++ = '\n';
  }
  header.counter_names_bytes = static_cast<uint32_t>(at - names);
  g_log.counters()->magic = format::kFileMagic;
  std::atomic_ref(header.magic).store(format::kFileMagic, std::memory_order_release);
}

void refine_header() {
  static std::atomic<const format::FileHeader*> refined{nullptr};
  format::FileHeader* const header = g_log.header();
  if (header == nullptr || refined.load(std::memory_order_relaxed) == header) return;
  const uint64_t rate = exact_ticks_per_second();
  if (rate == 0) return;
  std::atomic_ref(header->ticks_per_second).store(rate, std::memory_order_relaxed);
  refined.store(header, std::memory_order_relaxed);
}

namespace {

// Returns the contents of a small /proc file without the NUL bytes and line ends at its end. Empty if it cannot be
// read.
std::string_view read_small(const char* path, char* buffer, size_t capacity) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const ssize_t size = read(fd, buffer, capacity);
  close(fd);
  if (size <= 0) return {};
  size_t length = static_cast<size_t>(size);
  while (length != 0 && (buffer[length - 1] == '\0' || buffer[length - 1] == '\n')) --length;
  return {buffer, length};
}

constexpr size_t kTextBytes = 4096;

// The text, with its secrets masked unless PROF_SECRETS=keep. `buffer` has room for kTextBytes bytes.
std::string_view without_secrets(std::string_view text, char separator, char* buffer) {
  if (options().secrets == option::Secrets::Keep) return text;
  return {buffer, format::mask_secrets({text.data(), std::min(text.size(), kTextBytes)}, separator, buffer)};
}

// The arguments of the process with a space between them.
std::string_view command_line() {
  static char raw[kTextBytes], masked[kTextBytes];
  const std::string_view text = without_secrets(read_small("/proc/self/cmdline", raw, sizeof raw), '\0', masked);
  char* const at = const_cast<char*>(text.data());
  for (size_t i = 0; i < text.size(); ++i) {
    if (at[i] == '\0') at[i] = ' ';
  }
  return text;
}

void define_environment(const char* entry) {
  static char masked[kTextBytes];
  define_meta("environment", without_secrets(entry, '\0', masked));
}

bool worth_keeping(std::string_view entry) {
  for (const std::string_view prefix :
       {"PROF_", "CUDA_VISIBLE_DEVICES=", "CUDA_DEVICE_ORDER=", "RANK=", "WORLD_SIZE=", "LOCAL_RANK=",
        "OMPI_COMM_WORLD_", "SLURM_PROCID=", "SLURM_NTASKS=", "CUDA_LAUNCH_BLOCKING=", "CUDA_MODULE_LOADING="}) {
    if (entry.starts_with(prefix)) return true;
  }
  return false;
}

// Writes facts about the job as they are now, and options as they were when they were read.
void describe_environment() {
  uint64_t told = 0;  // one bit per row of the options
  for (char** at = environment(); at != nullptr && *at != nullptr; ++at) {
    if (!worth_keeping(*at)) continue;
    const uint32_t row = option_row_of(*at);
    SetOption set{};
    if (row < kOptionCount && (!set_option(row, set) || std::strcmp(set.entry, *at) != 0)) continue;
    if (row < kOptionCount) told |= uint64_t{1} << row;
    define_environment(*at);
  }
  for (uint32_t row = 0; row < kOptionCount; ++row) {
    SetOption set{};
    if ((told >> row & 1) == 0 && set_option(row, set) && *set.entry != '\0') define_environment(set.entry);
  }
}

}  // namespace

void describe_process() {
  static char buffer[kTextBytes];
  define_meta("libprof", PROF_VERSION);
  if (may_tell(option::About::Command)) define_meta("command_line", command_line());
  const ssize_t size = may_tell(option::About::Paths) ? readlink("/proc/self/exe", buffer, sizeof buffer) : 0;
  if (size > 0) define_meta("executable", {buffer, static_cast<size_t>(size)});
  utsname names{};
  if (uname(&names) == 0) {
    if (may_tell(option::About::Host)) define_meta("host", names.nodename);
    define_meta("kernel", names.release);
  }
  const ProcessorModel processor;
  if (!processor.text().empty()) define_meta("cpu_model", processor.text());
  if (const uint64_t count = online_processors(); count != 0) define_meta("cpu_count", Decimal(count).text());
  define_meta("boot_id", read_small("/proc/sys/kernel/random/boot_id", buffer, sizeof buffer));
  if (may_tell(option::About::Paths) && getcwd(buffer, sizeof buffer) != nullptr)
    define_meta("working_directory", buffer);
  if (!launcher_rank().empty()) define_meta("rank", launcher_rank());
  if (!launcher_size().empty()) define_meta("world_size", launcher_size());
  if (options().secrets == option::Secrets::Keep) define_meta("secrets", "kept");
  if (may_tell(option::About::Environment)) describe_environment();
  define_gpu_clock();
}

}  // namespace prof::preload
