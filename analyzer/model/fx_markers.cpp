#include "analyzer/model/fx_markers.h"

#include "analyzer/base/input_error.h"
#include "analyzer/base/json/json_text.h"

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

namespace prof::analyzer {

namespace {

std::string_view text_of(const rapidjson::Value& value) { return {value.GetString(), value.GetStringLength()}; }

// Like Python's int(): ignores blanks around the number.
std::optional<int64_t> whole_number(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The text between "## " and " ##"; empty: no marker.
std::string_view marker_text(std::string_view name) {
  constexpr size_t kAround = 6;
  if (name.size() <= kAround || !name.starts_with("## ") || !name.ends_with(" ##")) return {};
  return name.substr(3, name.size() - kAround);
}

// Line breaks of a stack remain in the JSON string.
std::string as_json(const rapidjson::Value& text) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  writer.String(text.GetString(), text.GetStringLength());
  return {buffer.GetString(), buffer.GetSize()};
}

FxNode node_of(const rapidjson::Value& value, const std::string& where) {
  FxNode node;
  const auto text = [&](const char* key) -> std::string {
    const auto found = value.FindMember(key);
    if (found == value.MemberEnd() || found->value.IsNull()) return {};
    if (!found->value.IsString()) throw InputError(fmt::format("{}: \"{}\" is no string", where, key));
    return as_json(found->value);
  };
  node.name = text("name");
  node.stack_trace = text("stack_trace");
  if (node.stack_trace.empty()) node.stack_trace = json_string("No model stack trace available");
  return node;
}

}  // namespace

FxMetadata FxMetadata::read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || file.bad()) throw InputError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  return parse(text.str(), path);
}

FxMetadata FxMetadata::parse(const std::string& text, const std::string& source) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(text.data(), text.size());
  if (document.HasParseError()) {
    throw InputError(fmt::format("{}: byte {}: {}", source, document.GetErrorOffset(),
                                 rapidjson::GetParseError_En(document.GetParseError())));
  }
  if (!document.IsObject()) {
    throw InputError(
        fmt::format("{}: no FX metadata: the outermost value must be an object with a member for each file", source));
  }
  FxMetadata metadata;
  for (const auto& file : document.GetObject()) {
    const std::string_view name = text_of(file.name);
    const std::string where = fmt::format("{}: {}", source, json_string(name));
    if (!file.value.IsObject()) throw InputError(where + ": is no object");
    auto& nodes = metadata.files_[std::string(name)];
    const auto members = file.value.FindMember("node_metadata");
    if (members == file.value.MemberEnd()) continue;
    if (!members->value.IsObject()) throw InputError(where + ": \"node_metadata\" is no object");
    for (const auto& node : members->value.GetObject()) {
      const std::string at = fmt::format("{}: node {}", where, json_string(text_of(node.name)));
      const std::optional<int64_t> number = whole_number(text_of(node.name));
      if (!number) throw InputError(at + ": is no number");
      if (!node.value.IsObject()) throw InputError(at + ": is no object");
      if (node.value.ObjectEmpty()) continue;
      nodes[*number] = node_of(node.value, at);
    }
  }
  return metadata;
}

const FxNode* FxMetadata::find(std::string_view file, int64_t node) const {
  const auto found = files_.find(file);
  if (found == files_.end()) return nullptr;
  const auto entry = found->second.find(node);
  return entry == found->second.end() ? nullptr : &entry->second;
}

struct FxMarkers::Marker {
  int64_t begin_ns, end_ns;
  std::string_view file;  // empty: a node
  int64_t node;
};

// A marker opens or closes.
struct FxMarkers::Edge {
  int64_t time_ns;
  bool opens;
  uint32_t marker;
};

bool FxMarkers::is_marker(const Trace& trace, const Range& range) {
  return range.kind == RangeKind::Operator && !marker_text(trace.range_name(range)).empty();
}

std::vector<FxMarkers::Marker> FxMarkers::markers_of(const Trace& trace, Rows ranges) {
  std::vector<Marker> markers;
  for (uint32_t row = ranges.first; row < ranges.last; ++row) {
    const Range& range = trace.ranges[row];
    if (range.kind != RangeKind::Operator) continue;
    const std::string_view text = marker_text(trace.range_name(range));
    if (text.empty()) continue;
    Marker marker{range.begin_ns, range.end_ns, {}, 0};
    if (text.ends_with(".py")) {
      marker.file = text;
    } else if (const std::optional<int64_t> number = whole_number(text)) {
      marker.node = *number;
    } else {
      ++not_numbers_;
      continue;
    }
    if (marker.end_ns > marker.begin_ns) markers.push_back(marker);  // a marker without duration contains nothing
  }
  // Of two markers with the same start, the longer is outside. Of two with the same times, the file is outside.
  std::stable_sort(markers.begin(), markers.end(), [](const Marker& a, const Marker& b) {
    if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
    if (a.end_ns != b.end_ns) return a.end_ns > b.end_ns;
    return !a.file.empty() && b.file.empty();
  });
  return markers;
}

void FxMarkers::follow(const std::vector<Marker>& markers, const FxMetadata& metadata, std::vector<Change>& changes) {
  std::vector<Edge> edges;
  for (uint32_t i = 0; i < markers.size(); ++i) {
    edges.push_back({markers[i].begin_ns, true, i});
    edges.push_back({markers[i].end_ns, false, i});
  }
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.opens < b.opens;
  });
  struct OpenNode {
    uint32_t marker;
    const FxNode* node;
  };
  std::vector<uint32_t> files;
  std::vector<OpenNode> nodes;
  std::vector<bool> closed(markers.size());
  for (const Edge& edge : edges) {
    const Marker& marker = markers[edge.marker];
    if (!edge.opens) {
      closed[edge.marker] = true;
      // A marker that crosses other markers stays on the stack until they have closed too.
      while (!files.empty() && closed[files.back()]) files.pop_back();
      while (!nodes.empty() && closed[nodes.back().marker]) nodes.pop_back();
    } else if (!marker.file.empty()) {
      files.push_back(edge.marker);
      if (!metadata.has_file(marker.file)) ++files_unknown_;
    } else {
      const FxNode* const node = files.empty() ? nullptr : metadata.find(markers[files.back()].file, marker.node);
      ++(node != nullptr ? nodes_found_ : nodes_unknown_);
      if (node != nullptr) nodes.push_back({edge.marker, node});
    }
    const FxNode* const now = nodes.empty() ? nullptr : nodes.back().node;
    if (!changes.empty() && changes.back().time_ns == edge.time_ns) {
      changes.back().node = now;
    } else if (now != (changes.empty() ? nullptr : changes.back().node)) {
      changes.push_back({edge.time_ns, now});
    }
  }
}

FxMarkers::FxMarkers(const Trace& trace, const FxMetadata& metadata) : changes_(trace.threads.size()) {
  for (size_t t = 0; t < trace.threads.size(); ++t) {
    follow(markers_of(trace, trace.threads[t].ranges), metadata, changes_[t]);
  }
}

const FxNode* FxMarkers::at(ThreadId thread, int64_t time_ns) const {
  const std::vector<Change>& changes = changes_[index(thread)];
  const auto next = std::upper_bound(changes.begin(), changes.end(), time_ns,
                                     [](int64_t time, const Change& change) { return time < change.time_ns; });
  return next == changes.begin() ? nullptr : std::prev(next)->node;
}

}  // namespace prof::analyzer
