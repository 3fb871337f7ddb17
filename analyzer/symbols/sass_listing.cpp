#include "analyzer/symbols/sass_listing.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace prof::analyzer {

namespace {

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r;") + 1 - first);
}

// "/*0010*/   S2R R5, SR_TID.X ;"; false: no instruction.
bool parse_instruction(std::string_view line, SassInstruction& to) {
  line = trimmed(line);
  if (!line.starts_with("/*")) return false;
  const size_t end = line.find("*/");
  if (end == std::string_view::npos) return false;
  const char* const last = line.data() + end;
  const auto parsed = std::from_chars(line.data() + 2, last, to.offset, 16);
  if (parsed.ec != std::errc() || parsed.ptr != last) return false;
  to.text = trimmed(line.substr(end + 2));
  return !to.text.empty();
}

// An open file that closes itself.
struct OpenFile {
  explicit OpenFile(int number) : fd(number) {}
  ~OpenFile() {
    if (fd >= 0) close(fd);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd;
};

bool write_cubin(int fd, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return true;
}

// Reads until the end of the output. Returns why it stopped earlier; empty: it did not.
std::string read_output(int fd, const DisassemblerLimits& limits, std::string& output) {
  const auto start = std::chrono::steady_clock::now();
  constexpr size_t kStep = size_t{1} << 16;
  for (;;) {
    const double left =
        limits.seconds - std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (left <= 0) return fmt::format("nvdisasm took more than {} s and was ended", limits.seconds);
    pollfd waiting{fd, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(left * 1e3) + 1) <= 0) continue;
    const size_t before = output.size();
    output.resize(before + kStep);
    const ssize_t got = read(fd, output.data() + before, kStep);
    output.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    if (output.size() > limits.output_bytes)
      return fmt::format("nvdisasm printed more than {} bytes and was ended", limits.output_bytes);
  }
}

std::string first_line_of(int fd) {
  char text[256];
  const ssize_t got = pread(fd, text, sizeof text, 0);
  const std::string_view all(text, static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return std::string(trimmed(all.substr(0, all.find('\n'))));
}

}  // namespace

std::string find_nvdisasm() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  std::vector<std::string> folders;
  const std::string path = variable("PATH");
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find(':', at), path.size());
    if (end > at) folders.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  for (const char* const name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string folder = variable(name); !folder.empty()) folders.push_back(folder + "/bin");
  }
  folders.emplace_back("/usr/local/cuda/bin");
  for (const std::string& folder : folders) {
    std::string program = folder + "/nvdisasm";
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

SassListing disassemble(std::span<const uint8_t> cubin, const std::string& program,
                        const std::vector<uint32_t>& symbols, const DisassemblerLimits& limits) {
  SassListing listing;
  if (program.empty()) {
    listing.problem =
        "nvdisasm was not found in PATH, CUDA_HOME or /usr/local/cuda; it is part of the CUDA toolkit and of the "
        "Python package nvidia-cuda-nvdisasm";
    return listing;
  }
  if (cubin.size() > limits.cubin_bytes) {
    listing.problem =
        fmt::format("the cubin has {} bytes; more than {} are not disassembled", cubin.size(), limits.cubin_bytes);
    return listing;
  }
  const OpenFile input(memfd_create("cubin", 0)), errors(memfd_create("errors", MFD_CLOEXEC));  // `input`: inherited
  int ends[2];
  if (input.fd < 0 || errors.fd < 0 || !write_cubin(input.fd, cubin) || pipe2(ends, O_CLOEXEC) != 0) {
    listing.problem = fmt::format("cannot run {}: {}", program, std::strerror(errno));
    return listing;
  }
  const OpenFile output(ends[0]);
  std::vector<std::string> words = {program, "-c"};
  if (!symbols.empty()) words.insert(words.end(), {"-fun", fmt::format("{}", fmt::join(symbols, ","))});
  words.push_back(fmt::format("/proc/self/fd/{}", input.fd));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.fd, STDERR_FILENO);
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    listing.problem = fmt::format("cannot run {}: {}", program, std::strerror(failed));
    return listing;
  }
  std::string text;
  listing.problem = read_output(output.fd, limits, text);
  if (!listing.problem.empty()) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  listing.sections = parse_sass_listing(text);
  if (listing.problem.empty() && status != 0) {
    const std::string reason = first_line_of(errors.fd);
    listing.problem = fmt::format("{} failed: {}", program, reason.empty() ? "no reason given" : reason);
  }
  return listing;
}

std::vector<SassSection> parse_sass_listing(std::string_view text) {
  std::vector<SassSection> sections;
  std::vector<std::string_view> labels;  // of the next instruction
  bool code = false;                     // inside a section of instructions
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    SassInstruction instruction;
    const std::string_view words = trimmed(line);
    constexpr std::string_view kSection = ".section";
    if (words.starts_with(kSection) && words.find_first_of(" \t") == kSection.size()) {  // not .sectioninfo
      const std::string_view name = trimmed(words.substr(kSection.size()));
      code = name.starts_with(".text.");
      labels.clear();
      if (code) sections.push_back({std::string(name.substr(0, name.find(','))), {}, {}});
    } else if (code && parse_instruction(line, instruction)) {
      for (const std::string_view label : labels) sections.back().labels.emplace_back(label, instruction.offset);
      labels.clear();
      sections.back().instructions.push_back(std::move(instruction));
    } else if (code && words.size() > 1 && words.ends_with(':') && words.find(' ') == std::string_view::npos) {
      labels.push_back(words.substr(0, words.size() - 1));
    }
  }
  return sections;
}

}  // namespace prof::analyzer
