// Which node of an FX graph was a thread running? Graph code compiled with markers opens an operator named "## FILE.py
// ##" around each generated file and "## NUMBER ##" around each node. A file that is written next to the trace
// describes node NUMBER of FILE. Called by `prof trace --fx-metadata`.
//
// Markers count on their own thread as [begin, end): at equal times one ends before the next begins. A node belongs to
// the innermost file that is open when it begins. Of nested nodes the innermost node that the metadata has is returned.
#pragma once

#include "analyzer/model/trace.h"

#include <map>
#include <string>
#include <vector>

namespace prof::analyzer {

// Texts as JSON strings.
struct FxNode {
  std::string name;         // empty: not in the file
  std::string stack_trace;  // "No model stack trace available" if the file has none, as in torch.profiler
};

// {"FILE.py": {"node_metadata": {"NUMBER": {"name": …, "stack_trace": …}}}}
class FxMetadata {
 public:
  // Throws InputError if the file cannot be read, is no JSON (with the offset) or has another structure (with the
  // member).
  static FxMetadata read(const std::string& path);
  static FxMetadata parse(const std::string& text, const std::string& source);

  bool has_file(std::string_view file) const { return files_.contains(file); }
  const FxNode* find(std::string_view file, int64_t node) const;  // null: unknown

 private:
  std::map<std::string, std::map<int64_t, FxNode>, std::less<>> files_;
};

class FxMarkers {
 public:
  // The metadata must outlive this object.
  FxMarkers(const Trace& trace, const FxMetadata& metadata);

  // The node that the thread was in; null: none.
  const FxNode* at(ThreadId thread, int64_t time_ns) const;
  static bool is_marker(const Trace& trace, const Range& range);

  uint64_t nodes_found() const { return nodes_found_; }
  uint64_t files_unknown() const { return files_unknown_; }  // markers of files that the metadata lacks
  uint64_t nodes_unknown() const {
    return nodes_unknown_;
  }                                                      // outside any known file, or not in the metadata of the file
  uint64_t not_numbers() const { return not_numbers_; }  // "## … ##" that is neither a file nor a number

 private:
  // From `time_ns` on the thread is in `node`.
  struct Change {
    int64_t time_ns;
    const FxNode* node;
  };
  struct Marker;
  struct Edge;
  std::vector<Marker> markers_of(const Trace& trace, Rows ranges);
  void follow(const std::vector<Marker>& markers, const FxMetadata& metadata, std::vector<Change>& changes);

  std::vector<std::vector<Change>> changes_;  // by ThreadId
  uint64_t nodes_found_ = 0, files_unknown_ = 0, nodes_unknown_ = 0, not_numbers_ = 0;
};

}  // namespace prof::analyzer
