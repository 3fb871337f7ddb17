// Offline. What is the text of a source line, if the file is on this machine and is the one that was compiled?
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// What is known of the file that was compiled. 0: unknown, not checked.
struct SourceStamp {
  int64_t modified_s = 0;   // since 1970
  uint64_t bytes = 0;       // of the file
  int64_t not_after_s = 0;  // a file modified later (for example, after the recording) is another one
};

struct SourceLine {
  std::string text;     // without the indent and the end of the line
  std::string problem;  // why there is none; empty: there is one
};

// Reads each file once and keeps it.
class SourceText {
 public:
  SourceLine line(const std::string& path, uint32_t number, const SourceStamp& stamp = {});

 private:
  struct File {
    std::string text, problem;
    int64_t modified_s = 0;
    std::vector<size_t> starts;  // of lines, and the end
  };
  const File& file(const std::string& path);

  std::map<std::string, File> files_;
};

}  // namespace prof::analyzer
