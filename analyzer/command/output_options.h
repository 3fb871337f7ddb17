// Where does a verb write its answer? The options -o and --force, and the rule which existing files may be replaced.
#pragma once

#include <CLI/CLI.hpp>

#include <span>
#include <string>
#include <vector>

namespace prof::analyzer {

struct OutputOptions {
  std::string path = "-";
  bool force = false;

  void add_to(CLI::App& verb, const std::string& help = "file, - for stdout; the end of its name selects the form");
  bool is_stdout() const { return path == "-"; }
  // The width of the terminal that the answer is printed on; 0: it goes to a file or a pipe.
  size_t terminal_columns() const;
};

// Throws std::runtime_error if the file must not be written: it is one of the inputs, or it exists, prof did not write
// it, and there is no --force.
void check_output(const std::string& path, bool force, std::span<const std::string> inputs);

}  // namespace prof::analyzer
