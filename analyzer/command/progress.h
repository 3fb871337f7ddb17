// A line on the terminal for a step that takes more than two seconds: what prof does, and how much of it is done. There
// is no line if stderr is no terminal. The line disappears with the object, so messages come before or after it.
#pragma once

#include <memory>
#include <string>

namespace prof::analyzer {

class ProgressLine {
 public:
  // "reading", "computing kernels", "writing out.json"
  explicit ProgressLine(std::string what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void share(double done);  // 0 to 1; without it the line shows the seconds

 private:
  class Printer;
  std::unique_ptr<Printer> printer_;
};

}  // namespace prof::analyzer
