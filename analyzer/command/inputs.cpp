#include "analyzer/command/inputs.h"

#include "analyzer/analysis/collectives/host_clocks.h"
#include "analyzer/analysis/collectives/process_ranks.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/base/saturated.h"
#include "analyzer/base/sink.h"
#include "analyzer/command/command.h"
#include "analyzer/command/progress.h"
#include "analyzer/input/each_input.h"
#include "analyzer/input/importer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace prof::analyzer {

namespace {

// Whether two files of one size have the same bytes. Files that cannot be read have not.
bool equal_contents(const std::string& a, const std::string& b) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> x(std::fopen(a.c_str(), "rb"), std::fclose);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> y(std::fopen(b.c_str(), "rb"), std::fclose);
  if (x == nullptr || y == nullptr) return false;
  std::vector<char> of_x(size_t{1} << 16), of_y(of_x.size());
  for (;;) {
    const size_t got = std::fread(of_x.data(), 1, of_x.size(), x.get());
    if (std::fread(of_y.data(), 1, of_y.size(), y.get()) != got) return false;
    if (std::memcmp(of_x.data(), of_y.data(), got) != 0) return false;
    if (got < of_x.size()) return std::ferror(x.get()) == 0 && std::ferror(y.get()) == 0;
  }
}

// A number that files of equal contents share: their size and the bytes at both ends. So a job's many logs of one size
// are not compared with each other.
size_t ends_of(const std::string& path, off_t size) {
  constexpr off_t kEnd = off_t{1} << 12;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  std::string bytes = std::to_string(size);
  if (file == nullptr) return std::hash<std::string>()(bytes);
  std::array<char, kEnd> end{};
  for (const off_t at : {off_t{0}, std::max<off_t>(0, size / 2), std::max<off_t>(0, size - kEnd)}) {
    if (fseeko(file.get(), at, SEEK_SET) != 0) break;
    bytes.append(end.data(), std::fread(end.data(), 1, end.size(), file.get()));
  }
  return std::hash<std::string>()(bytes);
}

// The model of the inputs that can be used. Others are left out, but not all of them, and none that does not exist.
std::unique_ptr<Trace> read_usable(const std::vector<std::string>& paths, const ImportOptions& options) {
  try {
    return read_trace(paths, options);
  } catch (const InputError&) {
    const auto exists = [](const std::string& path) { return access(path.c_str(), F_OK) == 0; };
    if (paths.size() == 1 || !std::all_of(paths.begin(), paths.end(), exists)) throw;
    // Which ones? Each is read alone, because the model may have rows of one that failed.
    std::vector<std::string> usable;
    const std::vector<UnusableInput> unusable = unusable_inputs(paths, options);
    for (const std::string& path : paths) {
      const auto is_path = [&](const UnusableInput& each) { return each.path == path; };
      if (std::none_of(unusable.begin(), unusable.end(), is_path)) usable.push_back(path);
    }
    if (usable.empty() || usable.size() == paths.size()) throw;
    std::unique_ptr<Trace> trace = read_trace(usable, options);
    trace->unusable = unusable;
    return trace;
  }
}

}  // namespace

std::vector<std::string> each_file_once(const std::vector<std::string>& paths) {
  std::vector<std::string> once;
  std::map<std::pair<dev_t, ino_t>, std::string> known;
  std::map<off_t, std::vector<std::string>> of_size;                     // those not in of_ends yet
  std::map<std::pair<off_t, size_t>, std::vector<std::string>> of_ends;  // of sizes that several files have
  for (const std::string& path : paths) {
    struct stat info {};
    if (stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
      const auto [found, is_new] = known.try_emplace({info.st_dev, info.st_ino}, path);
      if (!is_new) {
        const std::string as = found->second == path ? "" : " (as " + found->second + ")";
        std::fprintf(stderr, "prof: %s: the same file is given twice%s; it is read once\n",
                     readable_lines(path).c_str(), readable_lines(as).c_str());
        continue;
      }
      std::vector<std::string>& first = of_size[info.st_size];
      first.push_back(path);
      if (first.size() == 1) {
        once.push_back(path);
        continue;
      }
      if (first.size() == 2) of_ends[{info.st_size, ends_of(first[0], info.st_size)}].push_back(first[0]);
      std::vector<std::string>& others = of_ends[{info.st_size, ends_of(path, info.st_size)}];
      const auto copy =
          info.st_size == 0 ? others.end() : std::find_if(others.begin(), others.end(), [&](const std::string& other) {
            return equal_contents(other, path);
          });
      if (copy != others.end()) {
        std::fprintf(stderr, "prof: %s: has the same contents as %s; both are read, so that everything counts twice\n",
                     readable_lines(path).c_str(), readable_lines(*copy).c_str());
      }
      others.push_back(path);
    }
    once.push_back(path);
  }
  // An answer must not depend on the order in which the files are given. rank2 comes before rank10.
  std::stable_sort(once.begin(), once.end(),
                   [](const std::string& a, const std::string& b) { return strverscmp(a.c_str(), b.c_str()) < 0; });
  return once;
}

std::unique_ptr<Trace> read_inputs(const std::vector<std::string>& paths) {
  const std::vector<std::string> once = each_file_once(paths);
  ProgressLine progress("reading");
  ImportOptions options;
  options.progress = [&](double share) { progress.share(share); };
  std::unique_ptr<Trace> trace = read_usable(once, options);
  find_ranks(*trace);
  if (const std::string moved = align_clocks(*trace); !moved.empty())
    std::fprintf(stderr, "prof: %s\n", readable_lines(moved).c_str());
  return trace;
}

int tell_damage(const Trace& trace) {
  int status = trace.unusable.empty() ? kComplete : kPartial;
  constexpr size_t kMost = 20;
  for (size_t i = 0; i < trace.unusable.size() && i < kMost; ++i)
    std::fprintf(stderr, "prof: %s; it is left out\n", readable_lines(trace.unusable[i].why).c_str());
  if (trace.unusable.size() > kMost)
    std::fprintf(stderr, "prof: %zu more files cannot be used and are left out; prof check lists them\n",
                 trace.unusable.size() - kMost);
  for (const Process& process : trace.processes) {
    for (size_t i = 0; i < process.damage.size() && i < kMost; ++i) {
      std::fprintf(stderr, "prof: %s\n", readable_lines(process.damage[i]).c_str());
    }
    if (process.all_damage() > kMost && !process.damage.empty()) {
      std::fprintf(stderr, "prof: %s: %llu more damaged places; prof check lists %s\n",
                   readable_lines(process.source).c_str(),
                   static_cast<unsigned long long>(process.all_damage() - std::min(kMost, process.damage.size())),
                   process.all_damage() > process.damage.size() ? "the first of them" : "them");
    }
    for (const std::string& each : process.partial)
      std::fprintf(stderr, "prof: %s: %s\n", readable_lines(process.source).c_str(), readable_lines(each).c_str());
    if (!process.damage.empty() || !process.partial.empty()) status = kPartial;
  }
  for (const std::string& line : rank_problems(trace)) {
    std::fprintf(stderr, "prof: %s\n", readable_lines(line).c_str());
    status = kPartial;
  }
  if (any_sum_saturated) {
    std::fprintf(stderr, "prof: a sum is too large for 64 bits and is cut there\n");
    status = kPartial;
  }
  return status;
}

void finish_stdout() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  const std::string text = std::string("stdout: cannot be written: ") + std::strerror(errno);
  if (errno == EPIPE) throw BrokenPipe(text);
  throw OutputError(text);
}

void ignore_broken_pipes() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace prof::analyzer
