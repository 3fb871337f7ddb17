#include "analyzer/command/output_options.h"

#include "analyzer/base/sink.h"
#include "analyzer/command/help_text.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>

namespace prof::analyzer {

void OutputOptions::add_to(CLI::App& verb, const std::string& help) {
  verb.add_option("-o,--output", path, help)->option_text("FILE");
  verb.add_flag("--force", force, "replace the output file even if another program wrote it; never an input");
}

size_t OutputOptions::terminal_columns() const {
  return is_stdout() && isatty(STDOUT_FILENO) == 1 ? terminal_width() : 0;
}

void check_output(const std::string& path, bool force, std::span<const std::string> inputs) {
  struct stat output {};
  if (path == "-" || stat(path.c_str(), &output) != 0 || !S_ISREG(output.st_mode)) return;
  for (const std::string& input : inputs) {
    struct stat info {};
    if (stat(input.c_str(), &info) == 0 && info.st_dev == output.st_dev && info.st_ino == output.st_ino)
      throw std::runtime_error(fmt::format("{}: is an input, which is never overwritten; give another file", path));
  }
  if (!force && !was_written_by_prof(path))
    throw std::runtime_error(
        fmt::format("{}: exists, and prof did not write what it contains; --force replaces it", path));
}

}  // namespace prof::analyzer
