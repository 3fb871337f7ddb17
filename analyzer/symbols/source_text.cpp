#include "analyzer/symbols/source_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace prof::analyzer {

namespace {

constexpr int64_t kMostBytes = int64_t{64} << 20;  // a larger file is no source

std::string read_whole(const std::string& path, std::string& text, int64_t& modified_s) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return std::strerror(errno);
  std::string why;
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    why = "no regular file";
  } else if (status.st_size > kMostBytes) {
    why = fmt::format("{} bytes, too large for a source file", status.st_size);
  } else {
    modified_s = status.st_mtim.tv_sec;
    text.resize(static_cast<size_t>(status.st_size));
    size_t at = 0;
    ssize_t got = 0;
    while (at < text.size() && (got = read(fd, text.data() + at, text.size() - at)) > 0) at += static_cast<size_t>(got);
    if (got < 0) why = std::strerror(errno);
    text.resize(at);
  }
  close(fd);
  return why;
}

}  // namespace

const SourceText::File& SourceText::file(const std::string& path) {
  const auto [found, added] = files_.try_emplace(path);
  File& file = found->second;
  if (!added) return file;
  file.problem = read_whole(path, file.text, file.modified_s);
  if (!file.problem.empty()) return file;
  for (size_t at = 0; at < file.text.size();) {
    file.starts.push_back(at);
    const size_t end = file.text.find('\n', at);
    at = end == std::string::npos ? file.text.size() : end + 1;
  }
  file.starts.push_back(file.text.size());
  return file;
}

SourceLine SourceText::line(const std::string& path, uint32_t number, const SourceStamp& stamp) {
  const File& source = file(path);
  const auto no_text = [&](std::string_view why) { return SourceLine{{}, fmt::format("{}: {}", path, why)}; };
  if (!source.problem.empty()) return no_text(source.problem);
  if (stamp.bytes != 0 && stamp.bytes != source.text.size()) {
    return no_text(fmt::format("changed after it was compiled: {} bytes, {} then", source.text.size(), stamp.bytes));
  }
  if (stamp.modified_s != 0 && stamp.modified_s != source.modified_s) return no_text("changed after it was compiled");
  if (stamp.not_after_s != 0 && source.modified_s > stamp.not_after_s) return no_text("changed after the recording");
  const size_t lines = source.starts.size() - 1;
  if (number == 0 || number > lines) return no_text(fmt::format("no line {}: it has {}", number, lines));
  const std::string_view all = source.text;
  std::string_view text = all.substr(source.starts[number - 1], source.starts[number] - source.starts[number - 1]);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return {std::string(text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first)), {}};
}

}  // namespace prof::analyzer
