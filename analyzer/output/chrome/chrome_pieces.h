// Ready-made pieces that all files of the trace writer share.
#pragma once

#include "analyzer/model/trace.h"
#include "analyzer/output/chrome/event_list.h"

#include <string>
#include <vector>

namespace prof::analyzer {

// Paths of ranges as pieces, created at the first query.
class PathTexts {
 public:
  PathTexts(const Trace& trace, EventList& events) : trace_(trace), events_(events), texts_(trace.paths.size()) {}
  const std::string& operator[](PathId path) {
    std::string& text = texts_[index(path)];
    if (text.empty()) text = events_.text(path_text(trace_, path));
    return text;
  }

 private:
  const Trace& trace_;
  EventList& events_;
  std::vector<std::string> texts_;
};

}  // namespace prof::analyzer
