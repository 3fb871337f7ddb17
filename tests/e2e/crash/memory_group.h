// A control group of the kernel with a memory limit, below the group of this process. If its members need more memory,
// they are killed by SIGKILL. Supports control groups version 2 and version 1. Without permission there is no group.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace prof::test {

class MemoryGroup {
 public:
  explicit MemoryGroup(uint64_t limit_bytes) {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; !made() && std::getline(groups, line);) {
      const size_t path = line.find(":/");
      if (path == std::string::npos) continue;
      const std::string own = line.substr(path + 1), controllers = line.substr(0, path);
      if (line.starts_with("0::/")) {
        make("/sys/fs/cgroup" + own, "memory.max", limit_bytes);
      } else if (controllers.ends_with(":memory")) {
        make("/sys/fs/cgroup/memory" + own, "memory.limit_in_bytes", limit_bytes);
      }
    }
  }
  ~MemoryGroup() {
    std::error_code ignored;
    if (made()) std::filesystem::remove(folder_, ignored);
  }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  bool made() const { return !folder_.empty(); }
  // Moves the calling process into the group. False: it is not in it.
  bool enter() const { return write(folder_ + "/cgroup.procs", "0"); }

 private:
  void make(const std::string& parent, const char* limit, uint64_t bytes) {
    write(parent + "/cgroup.subtree_control", "+memory");  // version 2; if it is refused, there is no limit to write
    const std::string folder = parent + "/prof-crash-" + std::to_string(getpid());
    std::error_code failed;
    if (!std::filesystem::create_directory(folder, failed)) return;
    if (std::filesystem::exists(folder + "/" + limit) && write(folder + "/" + limit, std::to_string(bytes))) {
      folder_ = folder;
    } else {
      std::filesystem::remove(folder, failed);
    }
  }
  static bool write(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text << std::flush;
    return file.good();
  }
  std::string folder_;
};

}  // namespace prof::test
