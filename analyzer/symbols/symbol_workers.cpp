#include "analyzer/symbols/symbol_workers.h"

#include "analyzer/base/parallel.h"
#include "analyzer/symbols/cubin_line_table.h"
#include "analyzer/symbols/debug_lines.h"
#include "analyzer/symbols/elf_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <unordered_map>

namespace prof::analyzer {

namespace {

constexpr uint32_t kIdle = UINT32_MAX;
constexpr size_t kSmallestJob = 16384;  // with fewer addresses, opening the file again costs more than they do

struct Job {
  uint32_t request = 0;
  uint32_t first = 0, last = 0;  // of its addresses
};

// Memory that parent and children share.
struct Shared {
  std::atomic<uint32_t> next;
  std::atomic<uint32_t> current[64];  // by worker: its current job
};

// ---- In a child.

// The function of the symbol table at increasing addresses.
class SymbolCursor {
 public:
  explicit SymbolCursor(const std::string& path) {
    std::string why;
    if (!path.empty()) file_ = ElfFile::open(path, why);
    if (file_ != nullptr) functions_ = file_->functions();
  }
  std::string_view at(uint64_t address) {
    while (next_ < functions_.size() && functions_[next_].begin <= address) ++next_;
    if (next_ == 0) return {};
    const ElfSymbol& symbol = functions_[next_ - 1];
    const bool open_end = symbol.end == symbol.begin && next_ == functions_.size();
    return address < symbol.end || open_end ? symbol.name : std::string_view();
  }

 private:
  std::unique_ptr<ElfFile> file_;
  std::vector<ElfSymbol> functions_;
  size_t next_ = 0;
};

// What libdw has for addresses. It reads unit by unit, which is not always the order of addresses.
class Lines {
 public:
  Lines(const SymbolRequest& request, std::span<const uint64_t> addresses, SymbolAnswerWriter& texts)
      : of_(addresses.size()), to_(texts) {
    const auto found = [&](size_t i, std::span<const DebugFrame> frames) {
      of_[i] = {static_cast<uint32_t>(frames_.size()), static_cast<uint32_t>(frames_.size() + frames.size())};
      for (const DebugFrame& frame : frames) {
        const bool no_name = frame.plain || frame.function.empty();
        frames_.push_back({{text(frame.function), text(frame.file), frame.line, frame.inlined ? 1u : 0u,
                            frame.modified_s, frame.file_bytes},
                           no_name});
      }
    };
    texts.problem = request.cubin != nullptr ? read_cubin_line_table(*request.cubin, addresses, found)
                                             : read_debug_lines(request.files.lines, addresses, found);
  }
  // False: nothing is known. `symbol` is better than a name without its namespace.
  bool add(size_t i, std::string_view symbol) {
    for (uint32_t f = of_[i].first; f < of_[i].last; ++f) {
      Line line = frames_[f];
      if (line.plain && line.frame.inlined == 0 && !symbol.empty()) line.frame.function = to_.text(symbol);
      to_.add(line.frame);
    }
    return of_[i].first != of_[i].last;
  }

 private:
  struct Span {
    uint32_t first = 0, last = 0;
  };
  struct Line {
    SymbolAnswerWriter::Frame frame;
    bool plain;
  };
  // libdw returns the same pointer for the same text while the file is open.
  uint32_t text(std::string_view text) {
    const auto [found, added] = places_.try_emplace(text.data(), 0);
    if (added) found->second = to_.text(text);
    return found->second;
  }
  std::vector<Span> of_;
  std::vector<Line> frames_;
  SymbolAnswerWriter& to_;
  std::unordered_map<const char*, uint32_t> places_;
};

std::string answer_of(const SymbolRequest& request, const Job& job, uint32_t job_number, bool with_lines) {
  const std::span<const uint64_t> addresses(request.addresses.data() + job.first, job.last - job.first);
  SymbolAnswerWriter to(addresses.size());
  std::optional<Lines> lines;
  if (with_lines && (request.cubin != nullptr || !request.files.lines.empty())) lines.emplace(request, addresses, to);
  SymbolCursor symbols(request.files.functions);
  for (size_t i = 0; i < addresses.size(); ++i) {
    to.begin(i);
    std::string_view symbol = symbols.at(addresses[i]);
    if (request.cubin != nullptr) {
      const CubinFunction* const function = request.cubin->function_at(addresses[i]);
      if (function != nullptr) symbol = function->name;
    }
    if (lines && lines->add(i, symbol)) continue;
    if (!symbol.empty()) to.add({to.text(symbol), 0, 0, 0, 0, 0});
  }
  return std::string(reinterpret_cast<const char*>(&job_number), sizeof job_number) + to.bytes();
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(done));
  }
  return true;
}

// ---- In the parent.

struct Worker {
  pid_t pid = -1;
  int fd = -1;
  std::string bytes;  // read, but not yet a complete answer
  uint32_t seen = kIdle;
  std::chrono::steady_clock::time_point since;
};

class Round {
 public:
  Round(const std::vector<SymbolRequest>& requests, const std::vector<Job>& jobs,
        const std::vector<bool>& without_lines, const WorkerLimits& limits, std::vector<std::string>& answers)
      : requests_(requests), jobs_(jobs), without_lines_(without_lines), limits_(limits), answers_(answers) {}

  // Does the jobs with these numbers. Returns those during which a child was lost.
  std::vector<uint32_t> run(const std::vector<uint32_t>& todo) {
    void* const page = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::bad_alloc();
    shared_ = new (page) Shared{};
    const size_t count = std::min<size_t>({limits_.workers != 0 ? limits_.workers : worker_count(), todo.size(), 64});
    for (uint32_t w = 0; w < count; ++w) start(w, todo);
    if (workers_.empty())
      throw std::runtime_error(fmt::format("cannot start a process to read symbols: {}", std::strerror(errno)));
    while (wait()) {}
    munmap(page, sizeof(Shared));
    return lost_;
  }

 private:
  void start(uint32_t w, const std::vector<uint32_t>& todo) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    shared_->current[w] = kIdle;
    const pid_t pid = fork();
    if (pid == 0) {
      child(w, todo, ends[1]);
      _exit(0);
    }
    close(ends[1]);
    if (pid < 0) {
      close(ends[0]);
      return;
    }
    Worker worker;
    worker.pid = pid;
    worker.fd = ends[0];
    worker.since = std::chrono::steady_clock::now();
    workers_.push_back(std::move(worker));
    slots_.push_back(w);
  }

  void child(uint32_t w, const std::vector<uint32_t>& todo, int to) const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_DUMPABLE, 0);  // its crash is expected: no core file
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) std::signal(signal, SIG_DFL);
    if (const int null = open("/dev/null", O_WRONLY | O_CLOEXEC); null >= 0) dup2(null, STDERR_FILENO);
    try {
      for (uint32_t i = shared_->next.fetch_add(1); i < todo.size(); i = shared_->next.fetch_add(1)) {
        shared_->current[w] = todo[i];
        const Job& job = jobs_[todo[i]];
        const std::string bytes = answer_of(requests_[job.request], job, todo[i], !without_lines_[job.request]);
        const uint64_t size = bytes.size();
        if (!write_all(to, {reinterpret_cast<const char*>(&size), sizeof size}) || !write_all(to, bytes)) _exit(1);
        shared_->current[w] = kIdle;
      }
    } catch (const std::exception&) {
      _exit(1);  // as after a crash
    }
  }

  // False: all have ended.
  bool wait() {
    std::vector<pollfd> waiting;
    std::vector<size_t> which;
    for (size_t i = 0; i < workers_.size(); ++i) {
      if (workers_[i].fd < 0) continue;
      waiting.push_back({workers_[i].fd, POLLIN, 0});
      which.push_back(i);
    }
    if (waiting.empty()) return false;
    poll(waiting.data(), waiting.size(), 100);
    for (size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents != 0) read_from(which[i]);
      stop_if_late(which[i]);
    }
    return true;
  }

  void read_from(size_t w) {
    Worker& worker = workers_[w];
    const size_t before = worker.bytes.size();
    worker.bytes.resize(before + (size_t{1} << 16));
    const ssize_t got = read(worker.fd, worker.bytes.data() + before, size_t{1} << 16);
    worker.bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) return;
    take_answers(worker);
    if (got > 0) return;
    close(worker.fd);
    worker.fd = -1;
    int status = 0;
    while (waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {}
    const uint32_t job = shared_->current[slots_[w]];
    if (job != kIdle && job < answers_.size() && answers_[job].empty()) lost_.push_back(job);
  }

  void take_answers(Worker& worker) {
    uint64_t size = 0;
    size_t at = 0;
    while (worker.bytes.size() - at >= sizeof size) {
      std::memcpy(&size, worker.bytes.data() + at, sizeof size);
      if (worker.bytes.size() - at - sizeof size < size) break;
      uint32_t job = kIdle;
      if (size >= sizeof job) std::memcpy(&job, worker.bytes.data() + at + sizeof size, sizeof job);
      if (job < answers_.size()) answers_[job] = worker.bytes.substr(at + sizeof size + sizeof job, size - sizeof job);
      at += sizeof size + size;
    }
    worker.bytes.erase(0, at);
  }

  void stop_if_late(size_t w) {
    Worker& worker = workers_[w];
    const auto now = std::chrono::steady_clock::now();
    const uint32_t job = shared_->current[slots_[w]];
    if (job != worker.seen || job == kIdle) {
      worker.seen = job;
      worker.since = now;
    }
    if (std::chrono::duration<double>(now - worker.since).count() > limits_.seconds_a_job) kill(worker.pid, SIGKILL);
  }

  const std::vector<SymbolRequest>& requests_;
  const std::vector<Job>& jobs_;
  const std::vector<bool>& without_lines_;
  const WorkerLimits& limits_;
  std::vector<std::string>& answers_;
  Shared* shared_ = nullptr;
  std::vector<Worker> workers_;
  std::vector<uint32_t> slots_;
  std::vector<uint32_t> lost_;
};

}  // namespace

std::vector<SymbolAnswer> find_symbols(const std::vector<SymbolRequest>& requests, StringTable& strings,
                                       const WorkerLimits& limits) {
  const unsigned workers = limits.workers != 0 ? limits.workers : worker_count();
  std::vector<Job> jobs;
  for (uint32_t r = 0; r < requests.size(); ++r) {
    const size_t count = requests[r].addresses.size();
    const size_t step = std::max(kSmallestJob, count / (2 * workers) + 1);
    for (size_t first = 0; first < count; first += step)
      jobs.push_back({r, static_cast<uint32_t>(first), static_cast<uint32_t>(std::min(first + step, count))});
  }
  // Large jobs first, so that the last job to end is a small one.
  std::vector<uint32_t> todo(jobs.size());
  for (uint32_t i = 0; i < todo.size(); ++i) todo[i] = i;
  std::stable_sort(todo.begin(), todo.end(),
                   [&](uint32_t a, uint32_t b) { return jobs[a].last - jobs[a].first > jobs[b].last - jobs[b].first; });
  std::vector<std::string> answers(jobs.size());
  std::vector<bool> without_lines(requests.size()), given_up(requests.size());
  while (!todo.empty()) {
    const std::vector<uint32_t> lost = Round(requests, jobs, without_lines, limits, answers).run(todo);
    for (const uint32_t job : lost) {
      const uint32_t request = jobs[job].request;
      if (without_lines[request]) given_up[request] = true;
      without_lines[request] = true;
    }
    const size_t before = todo.size();
    std::erase_if(todo, [&](uint32_t job) { return !answers[job].empty() || given_up[jobs[job].request]; });
    if (lost.empty() && todo.size() == before) break;  // no child could be started any more
  }
  std::vector<SymbolAnswer> result(requests.size());
  for (size_t r = 0; r < requests.size(); ++r) result[r].first.resize(requests[r].addresses.size() + 1);
  for (uint32_t j = 0; j < jobs.size(); ++j) {  // by module, then by address
    SymbolAnswer& to = result[jobs[j].request];
    if (answers[j].empty() || !add_symbol_answer(answers[j], jobs[j].first, jobs[j].last, strings, to)) {
      for (uint32_t i = jobs[j].first; i < jobs[j].last; ++i) to.first[i] = static_cast<uint32_t>(to.frames.size());
      given_up[jobs[j].request] = true;
    }
    to.first[jobs[j].last] = static_cast<uint32_t>(to.frames.size());
    answers[j] = {};
  }
  for (size_t r = 0; r < requests.size(); ++r) {
    if (given_up[r]) {
      result[r].problem = "the file is damaged: reading it failed";
    } else if (without_lines[r]) {
      result[r].problem = "its debug information is damaged: functions are from the symbol table";
    }
  }
  return result;
}

}  // namespace prof::analyzer
