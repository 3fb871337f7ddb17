// Which program ranges launched operations on a stream? They are written on the tracks of that stream as Kineto's
// gpu_user_annotation, from the first to the last operation launched inside. Their args have no `stream`, as in Kineto,
// because readers treat an event with `stream` as a GPU operation. Slices of a track must nest. So a range that would
// cross an operation or another range is written on a track of its own.
#include "analyzer/analysis/stream_ranges.h"
#include "analyzer/output/chrome/chrome_writer.h"

#include <fmt/format.h>

#include <queue>
#include <span>

namespace prof::analyzer {

namespace {

using StreamRanges = std::span<const StreamRange>;

// Finds ranges that start or end inside an operation of the stream's own track and continue outside it. They exist only
// if operations overlap, because a range starts and ends with operations of its own.
std::vector<bool> crossing(const Trace& trace, const Stream& stream, StreamRanges ranges) {
  std::vector<bool> crosses(ranges.size());
  using Open = std::pair<int64_t, size_t>;  // end, index
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  LaneFinder lanes;
  size_t next = 0;
  int64_t start_ns = INT64_MIN, end_ns = INT64_MIN;  // of the previous operation
  const auto begin_until = [&](int64_t time_ns) {
    for (; next < ranges.size() && ranges[next].start_ns < time_ns; ++next) {
      const StreamRange& range = ranges[next];
      crosses[next] = start_ns < range.start_ns && range.start_ns < end_ns && end_ns < range.end_ns;
      open.emplace(range.end_ns, next);
    }
  };
  for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
    const GpuOperation& operation = trace.operations[row];
    if (lanes.lane(operation) != 0) continue;
    begin_until(operation.start_ns);
    for (; !open.empty() && open.top().first < operation.last_ns(); open.pop()) {
      if (open.top().first > operation.start_ns) crosses[open.top().second] = true;
    }
    start_ns = operation.start_ns;
    end_ns = operation.last_ns();
  }
  begin_until(INT64_MAX);
  return crosses;
}

class AnnotationWriter {
 public:
  explicit AnnotationWriter(const ChromeContext& context) : context_(context), names_(context.trace.labels.size()) {}

  void stream(StreamId id, StreamRanges ranges) {
    const Trace& trace = context_.trace;
    const Stream& stream = trace.stream(id);
    tracks_.clear();
    std::vector<bool> crosses;
    if (context_.ids.lanes[index(id)].size() > 1) crosses = crossing(trace, stream, ranges);
    for (size_t i = 0; i < ranges.size(); ++i) {
      size_t track = !crosses.empty() && crosses[i] ? 1 : 0;
      while (!fits(id, track, ranges[i])) ++track;
      tracks_[track].open.push_back(ranges[i].end_ns);
      write(ranges[i], track);
    }
  }

 private:
  struct Track {
    std::string piece;
    std::vector<int64_t> open;  // ends, outermost first
  };

  bool fits(StreamId stream, size_t track, const StreamRange& range) {
    while (tracks_.size() <= track) add_track(stream);
    std::vector<int64_t>& open = tracks_[track].open;
    while (!open.empty() && open.back() <= range.start_ns) open.pop_back();
    return open.empty() || open.back() >= range.end_ns;
  }

  void add_track(StreamId id) {
    const uint64_t pid = context_.ids.device[index(context_.trace.stream(id).device)];
    if (tracks_.empty()) {
      tracks_.push_back({track_piece(pid, context_.ids.lanes[index(id)].front()), {}});
      return;
    }
    const uint64_t tid = ChromeIds::range_track(id, tracks_.size());
    write_chrome_thread(context_, pid, tid,
                        fmt::format("{} ranges {}", context_.ids.stream_names[index(id)], tracks_.size()),
                        uint64_t{context_.trace.stream(id).number} * 16 + 15);
    tracks_.push_back({track_piece(pid, tid), {}});
  }

  void write(const StreamRange& range, size_t track) {
    const std::string& name = name_of(context_.trace.ranges[range.range]);
    const std::string& piece = tracks_[track].piece;
    char* to = context_.events.begin(name.size() + piece.size() + 192);
    to = put_bytes(put_bytes(to, "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":"), name);
    *to++ = ',';
    to = put_micros(put_bytes(to, piece), range.start_ns);
    to = put_micros(put_bytes(to, ",\"dur\":"), range.end_ns - range.start_ns);
    to = put_bytes(to, ",\"args\":{");
    if (track != 0) to = put_decimal(put_bytes(to, "\"of stream\":"), context_.trace.streams[range.stream].number);
    context_.events.end(put_bytes(to, "}}"));
  }

  const std::string& name_of(const Range& range) {
    std::string& name = names_[index(range.label)];
    if (name.empty()) name = json_string(context_.trace.range_name(range));
    return name;
  }

  const ChromeContext& context_;
  std::vector<std::string> names_;  // JSON, by LabelId
  std::vector<Track> tracks_;       // of the current stream, its own first
};

}  // namespace

void write_chrome_annotations(const ChromeContext& context) {
  const std::vector<StreamRange> all = ranges_on_streams(context.trace);
  AnnotationWriter writer(context);
  for (size_t first = 0, last = 0; first < all.size(); first = last) {
    while (last < all.size() && all[last].stream == all[first].stream) ++last;
    const StreamId stream{all[first].stream};
    if (context.writes(context.trace.stream(stream).device))
      writer.stream(stream, StreamRanges(all).subspan(first, last - first));
  }
}

}  // namespace prof::analyzer
