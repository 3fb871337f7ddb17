// See doctor_finding.h. What do files, limits and variables show about a recording before it starts?
#include "analyzer/command/doctor_finding.h"
#include "analyzer/command/nearest.h"
#include "analyzer/command/record_program.h"
#include "analyzer/command/recorder_library.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

extern char** environ;

namespace prof::analyzer {

namespace {

namespace fs = std::filesystem;

constexpr double kMebibyte = 1 << 20;

Finding examine_libc() {
  const std::string version = gnu_get_libc_version();
  int major = 0, minor = 0;
  if (std::sscanf(version.c_str(), "%d.%d", &major, &minor) == 2 && (major > 2 || (major == 2 && minor >= 28)))
    return {FindingVerdict::Ok, "glibc", version, ""};
  return {FindingVerdict::No, "glibc", version + ", the recorder needs 2.28",
          "use a newer distribution or its container"};
}

Finding examine_clock() {
#if defined(__aarch64__)
  return {FindingVerdict::Ok, "clock", "the processor's counter (cntvct_el0), which runs steadily", ""};
#else
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
    const bool steady = line.find("constant_tsc") != std::string::npos && line.find("nonstop_tsc") != std::string::npos;
    if (steady) return {FindingVerdict::Ok, "clock", "the processor's time stamp counter, which runs steadily", ""};
    break;
  }
  return {FindingVerdict::Ok, "clock",
          "CLOCK_MONOTONIC: each reading takes twice as long as a time stamp counter that runs steadily", ""};
#endif
}

Finding examine_fork_pages() {
  constexpr int kWipeOnFork = 18;
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool wiped = page != MAP_FAILED && madvise(page, 4096, kWipeOnFork) == 0;
  if (page != MAP_FAILED) munmap(page, 4096);
  if (wiped) return {FindingVerdict::Ok, "fork", "children are noticed however they are made", ""};
  return {FindingVerdict::Less, "fork",
          "this kernel wipes no page at fork: children made by clone() itself go unnoticed",
          "let the program use fork() or posix_spawn()"};
}

// The recorder uses its own copy first, then the system's.
Finding examine_unwinder(const std::string& library) {
  const fs::path own = fs::path(library).parent_path() / "prof" / "libunwind.so.8";
  std::error_code error;
  if (fs::exists(own, error)) return {FindingVerdict::Ok, "libunwind", own, ""};
  for (const char* const folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/lib64", "/usr/lib"}) {
    const fs::path path = fs::path(folder) / "libunwind.so.8";
    if (fs::exists(path, error)) return {FindingVerdict::Ok, "libunwind", path, ""};
  }
  return {FindingVerdict::Less, "libunwind",
          "not found: past code whose unwind information is of a rare form call stacks go on by frame pointers, or end",
          "install libunwind8, or put libunwind.so.8 into " + own.parent_path().string()};
}

std::string_view file_system_name(long type) {
  switch (type) {
    case 0xef53: return "ext4";
    case 0x58465342: return "xfs";
    case 0x01021994: return "tmpfs";
    case 0x794c7630: return "overlayfs";
    case 0x9123683e: return "btrfs";
    case 0x6969: return "NFS";
    case 0xff534d42: return "CIFS";
    case 0x65735546: return "FUSE";
    case 0x0bd00bd0: return "Lustre";
    case 0x47504653: return "GPFS";
    default: return "";
  }
}

Finding examine_space(const fs::path& folder, const struct statfs& disk) {
  const double free = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_bsize) / kMebibyte;
  const double kept = static_cast<double>(disk.f_blocks) / 20 * static_cast<double>(disk.f_bsize) / kMebibyte;
  const std::string text = fmt::format("{:.0f} MiB free below {}; the last {:.0f} MiB (5 %) are left to others", free,
                                       folder.string(), kept);
  if (free <= kept + 1) return {FindingVerdict::No, "space", text, "make room, or give another folder with --output"};
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    return {
        FindingVerdict::Less, "space",
        fmt::format("ulimit -f ends the log at {:.1f} MiB; {}", static_cast<double>(limit.rlim_cur) / kMebibyte, text),
        "raise ulimit -f"};
  return {FindingVerdict::Ok, "space", text, ""};
}

void examine_folder(const std::string& output, std::vector<Finding>& findings) {
  fs::path folder = fs::absolute(output).lexically_normal();
  if (is_name_pattern(output)) {
    folder = folder.parent_path();
    while (folder.string().find('%') != std::string::npos) folder = folder.parent_path();
  }
  std::error_code error;
  fs::path there = folder;  // prof record creates the rest
  while (!fs::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  if (!fs::is_directory(there, error)) {
    findings.push_back({FindingVerdict::No, "output", there.string() + " is not a folder",
                        "give another one with --output or PROF_OUTPUT"});
    return;
  }
  struct statfs disk {};
  if (access(there.c_str(), W_OK | X_OK) != 0 || statfs(there.c_str(), &disk) != 0) {
    findings.push_back({FindingVerdict::No, "output", fmt::format("{}: {}", there.string(), std::strerror(errno)),
                        "give another folder with --output or PROF_OUTPUT"});
    return;
  }
  const std::string_view type = file_system_name(static_cast<long>(disk.f_type));
  const bool mapped = type == "ext4" || type == "xfs" || type == "tmpfs" || type == "overlayfs" || type == "btrfs";
  if (mapped) {
    findings.push_back({FindingVerdict::Ok, "output",
                        fmt::format("{} ({}): the log survives a kill of the program", folder.string(), type), ""});
  } else {
    findings.push_back(
        {FindingVerdict::Less, "output",
         fmt::format("{} ({}): logs are copied there once a second, so a killed program loses the last one",
                     folder.string(),
                     type.empty() ? fmt::format("file system {:#x}", static_cast<unsigned long>(disk.f_type)) : type),
         "give a folder on a local disk with --output"});
  }
  findings.push_back(examine_space(folder, disk));
}

// These variables configure tools that use CUPTI themselves.
Finding examine_other_tools() {
  std::string tools;
  for (const char* const name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "LD_PRELOAD", "LD_AUDIT"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0' || std::string_view(value).find("libprof.so") != std::string_view::npos)
      continue;
    tools += fmt::format("{}{}={}", tools.empty() ? "" : ", ", name, value);
  }
  if (tools.empty())
    return {FindingVerdict::Ok, "other tools",
            "no variable names one; a profiler inside the program shares CUPTI with the recorder", ""};
  const bool takes_cupti = tools.find("CUDA_INJECTION64_PATH") != std::string::npos;
  return {takes_cupti ? FindingVerdict::Less : FindingVerdict::Ok, "other tools", tools,
          takes_cupti ? "unset CUDA_INJECTION64_PATH: its tool may hold CUPTI, and there would be no GPU times" : ""};
}

Finding examine_counters_permission() {
  std::ifstream file("/proc/driver/nvidia/params");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("RmProfilingAdminOnly:") && line.find('1') != std::string::npos && geteuid() != 0)
      return {FindingVerdict::Ok, "permissions",
              "hardware counters are for the administrator only; GPU times need no permission", ""};
  }
  return {FindingVerdict::Ok, "permissions", "nothing is forbidden", ""};
}

// Whether a process may follow its own threads with perf events (PROF_HOST_SAMPLES).
Finding examine_host_samples() {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.exclude_kernel = 1;
  attr.context_switch = 1;
  attr.disabled = 1;
  const long descriptor = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (descriptor >= 0) {
    close(static_cast<int>(descriptor));
    return {FindingVerdict::Ok, "host samples", "threads can be sampled while they run and while they wait", ""};
  }
  return {FindingVerdict::Less, "host samples",
          fmt::format("perf events are refused ({}): threads are sampled while they wait, and running threads without "
                      "their stacks",
                      std::strerror(errno)),
          "kernel.perf_event_paranoid of 2 or less; in a container, the system call perf_event_open must be allowed"};
}

}  // namespace

std::vector<Finding> examine_machine(const std::string& library, const std::string& output) {
  std::vector<Finding> findings{{FindingVerdict::Ok, "recorder", library, ""}};
  if (library.find_first_of(" :") != std::string::npos)
    findings[0] = {FindingVerdict::No, "recorder", library + ": LD_PRELOAD cannot hold a space or a colon",
                   "make a link elsewhere and set PROF_LIBRARY to it"};
  findings.push_back(examine_libc());
  findings.push_back(examine_clock());
  findings.push_back(examine_fork_pages());
  findings.push_back(examine_unwinder(library));
  examine_folder(output, findings);
  findings.push_back(examine_counters_permission());
  findings.push_back(examine_host_samples());
  findings.push_back(examine_other_tools());
  return findings;
}

std::vector<Finding> examine_variables() {
  std::vector<Finding> findings;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry(*at);
    const std::string name(entry.substr(0, entry.find('=')));
    if (!name.starts_with("PROF_") || name == "PROF_LIBRARY") continue;
    const std::string value(entry.substr(std::min(entry.size(), name.size() + 1)));
    const auto options = recorder_options();
    const auto option =
        std::find_if(options.begin(), options.end(), [&](const RecorderOption& o) { return name == o.variable; });
    if (option == options.end()) {
      std::vector<std::string> names;
      for (const RecorderOption& each : options) names.emplace_back(each.variable);
      findings.push_back({FindingVerdict::Less, "variables",
                          name + " is no option of the recorder" + did_you_mean(name, names),
                          "prof record --help names them all"});
    } else if (const std::string wrong = value.empty() ? "" : wrong_value(*option, value); !wrong.empty()) {
      findings.push_back({FindingVerdict::Less, "variables",
                          fmt::format("{}: {}; the default would be used", name, wrong), "correct or unset it"});
    }
  }
  if (findings.empty())
    findings.push_back({FindingVerdict::Ok, "variables", "every PROF_ variable that is set makes sense", ""});
  return findings;
}

std::vector<Finding> examine_program(const std::string& command) {
  const ProgramFacts facts = look_at_program(command);
  const auto no = [&](std::string text, std::string remedy) {
    return std::vector<Finding>{{FindingVerdict::No, "program", std::move(text), std::move(remedy)}};
  };
  if (facts.path.empty() || access(facts.path.c_str(), F_OK) != 0)
    return no(command + ": there is no such program", "give the path of the program, or a name that PATH has");
  if (const auto obstacle = why_not_recordable(facts)) return no(obstacle->reason, obstacle->remedy);
  if (!facts.asan.empty())
    return {{FindingVerdict::Ok, "program",
             fmt::format("{} needs {} first: prof record puts it there", facts.path, facts.asan), ""}};
  if (!facts.elf)
    return {{FindingVerdict::Ok, "program", facts.path + " is no binary: what it starts is recorded", ""}};
  return {{FindingVerdict::Ok, "program", facts.path + " can be recorded", ""}};
}

}  // namespace prof::analyzer
