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

class AnnotationWriter final : public TrackRows {
 public:
  explicit AnnotationWriter(const ChromeContext& context)
      : context_(context),
        all_(ranges_on_streams(context.trace)),
        heads_(context.trace.labels.size()),
        members_(context.events) {}

  void start(uint32_t stream) override {
    const Stream& of = context_.trace.streams[stream];
    const Rows rows = rows_of(stream);
    first_ = rows.first;
    stream_ = StreamId{stream};
    tracks_.clear();
    crosses_.clear();
    if (context_.ids.lanes[stream].size() > 1)
      crosses_ = crossing(context_.trace, of, StreamRanges(all_).subspan(rows.first, rows.size()));
  }

  void row(uint32_t row) override {
    const StreamRange& range = all_[row];
    if (!context_.selects_range(range.range) || !context_.selects_device(context_.trace.streams[range.stream].device) ||
        !context_.in_window(range.start_ns, range.end_ns))
      return;
    size_t track = !crosses_.empty() && crosses_[row - first_] ? 1 : 0;
    while (!fits(stream_, track, range)) ++track;
    tracks_[track].open.push_back(range.end_ns);
    write(range, track);
  }

  Rows rows_of(uint32_t stream) const override {
    const auto first =
        std::partition_point(all_.begin(), all_.end(), [&](const StreamRange& r) { return r.stream < stream; });
    const auto last = std::partition_point(first, all_.end(), [&](const StreamRange& r) { return r.stream == stream; });
    return {static_cast<uint32_t>(first - all_.begin()), static_cast<uint32_t>(last - all_.begin())};
  }
  Interval interval(uint32_t row) const override { return {all_[row].start_ns, all_[row].end_ns}; }

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
      tracks_.push_back({context_.events.track(pid, context_.ids.lanes[index(id)].front()), {}});
      return;
    }
    const uint64_t tid = ChromeIds::range_track(id, tracks_.size());
    context_.events.name_track(pid, tid,
                               fmt::format("{} ranges {}", context_.ids.stream_names[index(id)], tracks_.size()),
                               uint64_t{context_.trace.stream(id).number} * 16 + 15);
    tracks_.push_back({context_.events.track(pid, tid), {}});
  }

  void write(const StreamRange& range, size_t track) {
    members_.clear();
    if (track != 0) members_.add_count(EventKey::OfStream, context_.trace.streams[range.stream].number);
    context_.events.slice(head_of(context_.trace.ranges[range.range]), tracks_[track].piece, range.start_ns,
                          range.end_ns - range.start_ns, members_);
  }

  const std::string& head_of(const Range& range) {
    std::string& head = heads_[index(range.label)];
    if (head.empty()) head = context_.events.slice_head("gpu_user_annotation", context_.trace.range_name(range));
    return head;
  }

  const ChromeContext& context_;
  const std::vector<StreamRange> all_;
  std::vector<std::string> heads_;  // by LabelId
  // Of the current stream.
  StreamId stream_{};
  uint32_t first_ = 0;
  std::vector<bool> crosses_;
  std::vector<Track> tracks_;  // its own first
  EventMembers members_;
};

}  // namespace

std::unique_ptr<TrackRows> annotation_rows(const ChromeContext& context) {
  return std::make_unique<AnnotationWriter>(context);
}

void write_chrome_annotations(const ChromeContext& context) {
  AnnotationWriter writer(context);
  for (uint32_t s = 0; s < context.trace.streams.size(); ++s) {
    const Rows rows = writer.rows_of(s);
    if (rows.size() == 0 || !context.writes(context.trace.streams[s].device)) continue;
    writer.start(s);
    for (uint32_t row = rows.first; row < rows.last; ++row) writer.row(row);
  }
}

}  // namespace prof::analyzer
