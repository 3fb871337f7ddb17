// Processes and threads of a trace, and their names.
#pragma once

#include "analyzer/input/import.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace prof::analyzer {

// KinetoThreads has one row of Trace::processes for each "pid" and one of Trace::threads for each "pid", "tid" pair of
// the file, both texts, and the names that metadata events give them. A pid that is no number is a process without one:
// its text becomes its name.
class KinetoThreads {
 public:
  // `path`: Process::source of the new processes.
  KinetoThreads(Trace& trace, const ImportMark& mark, const std::string& path)
      : trace_(trace), mark_(mark), path_(path) {}

  // A new row for a pair that is not known yet.
  ThreadId thread(StringId pid, StringId tid);
  // Row of Trace::processes; kNone: no thread has this pid.
  uint32_t find_process(StringId pid) const;
  // A file without any thread has one process all the same.
  void need_process();

  void name_thread(StringId pid, StringId tid, StringId name) { thread_names_[key_of(pid, tid)] = index_of(name); }
  void name_process(StringId pid, StringId name) { process_names_[index_of(pid)] = index_of(name); }
  // "GPU 0", "NPU": what torch.profiler and others write beside the name of a process.
  void label_process(StringId pid, StringId labels) { process_labels_[index_of(pid)] = index_of(labels); }
  StringId process_name(StringId pid) const { return text_of(process_names_, pid); }
  StringId process_labels(StringId pid) const { return text_of(process_labels_, pid); }
  // Puts the names into the rows, after the last thread.
  void write_names();

  // A thread of the file with the names that it and its process have; empty: none.
  struct Track {
    StringId pid{}, tid{};
    StringId process_name{}, thread_name{};
    ThreadId thread{};  // unless it has a name only
  };
  std::vector<Track> tracks() const;        // that have rows, in no order
  std::vector<Track> named_tracks() const;  // whose thread has a name, in no order; without `thread`

  // Removes the threads for which `gone` (by ThreadId) is true and the processes that have no other thread. Returns the
  // new row of each thread; kNone: removed. A file without other processes keeps its first.
  std::vector<uint32_t> remove(const std::vector<bool>& gone);

 private:
  static uint32_t index_of(StringId text) { return static_cast<uint32_t>(text); }
  static uint64_t key_of(StringId pid, StringId tid) { return uint64_t{index_of(pid)} << 32 | index_of(tid); }
  uint32_t process(StringId pid);
  static StringId text_of(const std::unordered_map<uint32_t, uint32_t>& texts, StringId pid) {
    const auto found = texts.find(index_of(pid));
    return found == texts.end() ? StringId{} : StringId{found->second};
  }

  Trace& trace_;
  const ImportMark& mark_;
  const std::string& path_;
  std::unordered_map<uint64_t, uint32_t> threads_;       // (pid, tid) -> row
  std::unordered_map<uint32_t, uint32_t> processes_;     // pid -> row
  std::unordered_map<uint64_t, uint32_t> thread_names_;  // (pid, tid) -> name
  std::unordered_map<uint32_t, uint32_t> process_names_;
  std::unordered_map<uint32_t, uint32_t> process_labels_;
};

}  // namespace prof::analyzer
