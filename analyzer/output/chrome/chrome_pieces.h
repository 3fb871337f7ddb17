// Ready-made pieces of JSON that all files of the Chrome trace writer share.
#pragma once

#include "analyzer/base/json/json_text.h"
#include "analyzer/model/trace.h"

#include <string>
#include <vector>

namespace prof::analyzer {

// Paths of ranges as JSON strings, created at the first query.
class PathTexts {
 public:
  explicit PathTexts(const Trace& trace) : trace_(trace), texts_(trace.paths.size()) {}
  const std::string& operator[](PathId path) {
    std::string& text = texts_[index(path)];
    if (text.empty()) text = json_string(path_text(trace_, path));
    return text;
  }

 private:
  const Trace& trace_;
  std::vector<std::string> texts_;
};

// `"pid":1,"tid":2,"ts":`
std::string track_piece(uint64_t pid, uint64_t tid);

}  // namespace prof::analyzer
