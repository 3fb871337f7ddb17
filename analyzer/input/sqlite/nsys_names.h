// What does an nsys export have about the run as a whole? Strings, the session, hosts, processes, threads and GPUs.
#pragma once

#include "analyzer/input/sqlite/activity_rows.h"
#include "analyzer/input/sqlite/sqlite_reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace prof::analyzer {

// globalTid: (host and VM) << 48 | pid << 24 | tid; globalPid: the same without tid.
inline constexpr uint32_t kNsysTidBits = 24;
inline constexpr uint32_t kNsysIdMask = (1u << kNsysTidBits) - 1;
inline ProcessId nsys_process(ActivityRows& rows, int64_t global_id) {
  const uint64_t process = static_cast<uint64_t>(global_id) >> kNsysTidBits;
  return rows.process(process, static_cast<uint32_t>(process) & kNsysIdMask);
}
inline ThreadId nsys_thread(ActivityRows& rows, int64_t global_id) {
  return rows.thread(nsys_process(rows, global_id), static_cast<uint32_t>(global_id) & kNsysIdMask);
}

// StringIds: every name of the export.
class NsysNames {
 public:
  // Throws InputError if the file is no export of nsys.
  explicit NsysNames(const SqliteFile& file);
  // Empty for unknown numbers.
  std::string_view operator[](int64_t id) const {
    const auto found = texts_.find(id);
    return found == texts_.end() ? std::string_view() : std::string_view(found->second);
  }
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::unordered_map<int64_t, std::string> texts_;
  std::vector<std::string> problems_;
};

// The rows of NVTX_EVENTS. In nsys_ranges.cpp.
void read_nsys_ranges(const SqliteFile& file, const NsysNames& names, ActivityRows& rows);

// Names of processes and threads, facts about the run, and the tables with events that are not read.
void describe_nsys_session(const SqliteFile& file, const NsysNames& names, ActivityRows& rows);

// CLOCK_REALTIME of the session's time 0; nullopt: not in the file.
std::optional<int64_t> nsys_session_start(const SqliteFile& file);

// Sets names, properties and priorities of the new devices and streams, and finds equal GPUs of several processes.
// After finish().
void name_nsys_devices(const SqliteFile& file, const ImportMark& mark, Trace& trace);

}  // namespace prof::analyzer
