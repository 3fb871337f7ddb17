#include "analyzer/command/control_channel.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace prof::analyzer {

namespace {

namespace fs = std::filesystem;

bool holds(const std::string& path, const char* text) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.find(text) != std::string::npos) return true;
  }
  return false;
}

// The pid of the process in its innermost namespace, if it runs in a container.
uint32_t inner_pid(const std::string& process) {
  std::ifstream file(process + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("NSpid:")) return static_cast<uint32_t>(std::stoul(line.substr(line.find_last_of(" \t") + 1)));
  }
  return static_cast<uint32_t>(std::stoul(process.substr(process.rfind('/') + 1)));
}

// Whether the file is a log of that process. A child also has its parent's log open.
bool is_log_of(const std::string& file, uint32_t pid) {
  struct stat s {};
  format::FileHeader header{};
  if (stat(file.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) return false;
  std::ifstream stream(file, std::ios::binary);
  return stream.read(reinterpret_cast<char*>(&header), sizeof header) && header.magic == format::kFileMagic &&
         header.pid == pid;
}

}  // namespace

std::optional<Channel> find_channel(const std::string& process) {
  std::error_code error;
  std::optional<Channel> found;
  const uint32_t pid = inner_pid(process);
  for (const fs::directory_entry& entry : fs::directory_iterator(process + "/fd", error)) {
    std::error_code gone;
    const std::string target = fs::read_symlink(entry.path(), gone);
    if (gone) continue;
    if (target.starts_with(std::string("/memfd:") + format::kControlPageName)) {
      format::ControlWords words{};
      std::ifstream page(entry.path(), std::ios::binary);
      if (page.read(reinterpret_cast<char*>(&words), sizeof words) && words.pid == pid && !found)
        found = {entry.path(), ""};
    } else if (target.find(".plog") != std::string::npos || target.ends_with(" (deleted)")) {
      if (is_log_of(entry.path(), pid)) found = {entry.path(), target};
    }
  }
  if (error) {
    throw std::runtime_error(
        error == std::errc::permission_denied
            ? fmt::format("process {} belongs to another user, or may not be looked at", process.substr(6))
            : fmt::format("{}: {}", process, error.message()));
  }
  return found;
}

Channel channel_of(const std::string& process) {
  if (const std::optional<Channel> found = find_channel(process)) return *found;
  const std::string pid = process.substr(6);
  if (!holds(process + "/maps", "libprof.so"))
    throw std::runtime_error(fmt::format("process {} is not recorded: libprof.so is not loaded in it", pid));
  throw std::runtime_error(
      fmt::format("process {} has libprof.so, but nothing to be reached by: it has made no CUDA or NVTX call yet, or "
                  "it waits for what its PROF_START says (start it with PROF_START=ctl), or its log could not be made",
                  pid));
}

std::string environment_of(const std::string& process, const char* name) {
  std::ifstream file(process + "/environ", std::ios::binary);
  const std::string wanted = std::string(name) + "=";
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (entry.starts_with(wanted)) return entry.substr(wanted.size());
  }
  return {};
}

Words::Words(const Channel& channel) {
  const int fd = open(channel.file.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) throw std::runtime_error(fmt::format("{}: {}", channel.file, std::strerror(errno)));
  is_log_ = !channel.path.empty();
  const off_t offset = is_log_ ? static_cast<off_t>(format::kCounterPageOffset) : 0;
  const auto page = static_cast<off_t>(sysconf(_SC_PAGESIZE));  // a mapping begins with a page, of 4 to 64 KiB
  before_ = static_cast<size_t>(offset % page);
  mapping_ = mmap(nullptr, before_ + format::kBlockBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                  offset - static_cast<off_t>(before_));
  close(fd);
  if (mapping_ == MAP_FAILED) throw std::runtime_error(fmt::format("{}: {}", channel.file, std::strerror(errno)));
  memory_ = static_cast<char*>(mapping_) + before_;
}

Words::~Words() { munmap(mapping_, before_ + format::kBlockBytes); }

bool Words::recording() const { return is_log_ && __atomic_load_n(&page().finished, __ATOMIC_ACQUIRE) == 0; }

bool Words::listens() { return __atomic_load_n(&words().version, __ATOMIC_ACQUIRE) != 0; }

bool Words::switches_samples() {
  return __atomic_load_n(&words().version, __ATOMIC_ACQUIRE) >= format::kControlVersionWithSamples;
}

format::option::HostRate Words::samples() {
  return format::option::HostRate::of_word(__atomic_load_n(&words().samples, __ATOMIC_ACQUIRE));
}

bool Words::answered() {
  return __atomic_load_n(&words().answer, __ATOMIC_ACQUIRE) == __atomic_load_n(&words().request, __ATOMIC_RELAXED);
}

void Words::ask(format::ControlCommand command, const format::option::HostRate& rate) {
  const uint32_t last = __atomic_load_n(&words().request, __ATOMIC_RELAXED);
  const uint32_t request = format::control_request(format::number_of_request(last) + 1, command, rate.word());
  __atomic_store_n(&words().request, request, __ATOMIC_RELEASE);
}

void Words::take_back() {
  __atomic_store_n(&words().request, __atomic_load_n(&words().answer, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
}

format::ControlWords& Words::words() {
  char* const at = static_cast<char*>(memory_) + (is_log_ ? offsetof(format::CounterPage, control) : 0);
  return *reinterpret_cast<format::ControlWords*>(at);
}

}  // namespace prof::analyzer
