#include "analyzer/input/kineto/kineto_threads.h"

#include "analyzer/base/input_error.h"
#include "analyzer/base/json/json_decimal.h"
#include "analyzer/input/kineto/kineto_rows.h"

#include <fmt/format.h>

#include <string_view>

namespace prof::analyzer {

namespace {

constexpr uint32_t kMostProcesses = 1 << 16;  // a process takes a KiB of memory

}  // namespace

// Pids are numbers, also as text. Negative ones are the profiler's own and belong to the first process.
uint32_t KinetoThreads::process(StringId pid_text) {
  const auto known = processes_.find(index_of(pid_text));
  if (known != processes_.end()) return known->second;
  const std::string_view text = trace_.strings[pid_text];
  int64_t pid = 0;
  const bool number = to_int64(text, pid) == DecimalResult::Ok;
  if (number && pid < 0 && row_count(trace_.processes) > mark_.processes) {
    processes_[index_of(pid_text)] = mark_.processes;
    return mark_.processes;
  }
  const uint32_t row = row_count(trace_.processes);
  if (row - mark_.processes >= kMostProcesses)
    throw InputError(fmt::format("{}: has events of more than {} processes", path_, kMostProcesses));
  Process& process = trace_.processes.emplace_back();
  process.source = path_;
  process.pid = number && pid >= 0 ? static_cast<uint32_t>(pid) : row - mark_.processes;
  if (!number) process.executable = text;
  processes_[index_of(pid_text)] = row;
  return row;
}

ThreadId KinetoThreads::thread(StringId pid, StringId tid_text) {
  const auto [found, added] = threads_.try_emplace(key_of(pid, tid_text), row_count(trace_.threads));
  if (!added) return ThreadId{found->second};
  const uint32_t owner = process(pid);
  Thread& thread = trace_.threads.emplace_back();
  thread.process = ProcessId{owner};
  const std::string_view text = trace_.strings[tid_text];
  int64_t tid = 0;
  if (to_int64(text, tid) == DecimalResult::Ok) {
    thread.tid = static_cast<uint32_t>(tid);
  } else {
    thread.name = text;
  }
  return ThreadId{found->second};
}

uint32_t KinetoThreads::find_process(StringId pid) const {
  const auto known = processes_.find(index_of(pid));
  return known == processes_.end() ? kNone : known->second;
}

void KinetoThreads::need_process() {
  if (row_count(trace_.processes) == mark_.processes) trace_.processes.emplace_back().source = path_;
}

void KinetoThreads::write_names() {
  for (const auto& [pid, process] : processes_) {
    const auto name = process_names_.find(pid);
    if (name != process_names_.end() && trace_.processes[process].executable.empty())
      trace_.processes[process].executable = trace_.strings[StringId{name->second}];
  }
  for (const auto& [key, row] : threads_) {
    Thread& thread = trace_.threads[row];
    const auto name = thread_names_.find(key);
    if (name != thread_names_.end()) thread.name = trace_.strings[StringId{name->second}];
    int64_t pid = 0;
    const std::string_view pid_text = trace_.strings[StringId{static_cast<uint32_t>(key >> 32)}];
    if (thread.name.empty() && to_int64(pid_text, pid) == DecimalResult::Ok && pid < 0)
      thread.name = "profiler overhead";
  }
}

std::vector<KinetoThreads::Track> KinetoThreads::tracks() const {
  std::vector<Track> tracks;
  for (const auto& [key, row] : threads_) {
    Track& track = tracks.emplace_back();
    track.pid = StringId{static_cast<uint32_t>(key >> 32)};
    track.tid = StringId{static_cast<uint32_t>(key)};
    track.thread = ThreadId{row};
    const auto process_name = process_names_.find(index_of(track.pid));
    if (process_name != process_names_.end()) track.process_name = StringId{process_name->second};
    const auto thread_name = thread_names_.find(key);
    if (thread_name != thread_names_.end()) track.thread_name = StringId{thread_name->second};
  }
  return tracks;
}

std::vector<KinetoThreads::Track> KinetoThreads::named_tracks() const {
  std::vector<Track> tracks;
  for (const auto& [key, name] : thread_names_) {
    Track& track = tracks.emplace_back();
    track.pid = StringId{static_cast<uint32_t>(key >> 32)};
    track.tid = StringId{static_cast<uint32_t>(key)};
    track.thread_name = StringId{name};
  }
  return tracks;
}

std::vector<uint32_t> KinetoThreads::remove(const std::vector<bool>& gone) {
  std::vector<bool> used(trace_.processes.size());
  for (uint32_t i = 0; i < mark_.processes; ++i) used[i] = true;
  for (uint32_t i = mark_.threads; i < trace_.threads.size(); ++i) {
    if (!gone[i]) used[index(trace_.threads[i].process)] = true;
  }
  std::vector<uint32_t> thread_to(trace_.threads.size(), kNone), process_to(trace_.processes.size(), kNone);
  std::vector<Process> processes;
  for (uint32_t i = 0; i < trace_.processes.size(); ++i) {
    if (!used[i]) continue;
    process_to[i] = row_count(processes);
    processes.push_back(std::move(trace_.processes[i]));
  }
  if (processes.size() == mark_.processes) {
    process_to[mark_.processes] = mark_.processes;
    processes.push_back(std::move(trace_.processes[mark_.processes]));
  }
  std::vector<Thread> threads;
  for (uint32_t i = 0; i < trace_.threads.size(); ++i) {
    if (i >= mark_.threads && gone[i]) continue;
    thread_to[i] = row_count(threads);
    threads.push_back(std::move(trace_.threads[i]));
    threads.back().process = ProcessId{process_to[index(threads.back().process)]};
  }
  trace_.threads = std::move(threads);
  trace_.processes = std::move(processes);
  std::erase_if(threads_, [&](const auto& entry) { return thread_to[entry.second] == kNone; });
  std::erase_if(processes_, [&](const auto& entry) { return process_to[entry.second] == kNone; });
  for (auto& [key, thread] : threads_) thread = thread_to[thread];
  for (auto& [key, process] : processes_) process = process_to[process];
  return thread_to;
}

}  // namespace prof::analyzer
