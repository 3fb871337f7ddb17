// Writes pprof's profile.proto, with the field numbers of google/pprof. A Protobuf field is a tag and a varint (type
// 0), or a tag, a length and bytes (type 2). No other type is needed here.
#include "analyzer/base/json/json_text.h"
#include "analyzer/output/stacks/stack_formats.h"

#include <fmt/format.h>
#include <zlib.h>

#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

namespace {

class Message {
 public:
  void number(uint32_t field, uint64_t value) {
    if (value == 0) return;
    varint(uint64_t{field} << 3);
    varint(value);
  }
  void bytes(uint32_t field, std::string_view content) {
    varint(uint64_t{field} << 3 | 2);
    varint(content.size());
    text_ += content;
  }
  // A list of numbers in one field.
  void packed(uint32_t field, const std::vector<uint64_t>& values) {
    Message inside;
    for (const uint64_t value : values) inside.varint(value);
    bytes(field, inside.text_);
  }
  const std::string& text() const { return text_; }

 private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

class Strings {
 public:
  Strings() { of(""); }
  uint64_t of(std::string_view text) {
    const std::string readable = readable_utf8(text);
    const auto [found, added] = rows_.try_emplace(readable, texts_.size());
    if (added) texts_.push_back(readable);
    return found->second;
  }
  const std::vector<std::string>& all() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint64_t> rows_;
};

// Profile: sample_type 1, sample 2, mapping 3, location 4, function 5, string_table 6, time_nanos 9, duration_nanos 10,
// default_sample_type 14.
class Profile {
 public:
  explicit Profile(const CallTree& tree) : tree_(tree) {}

  std::string make(const StackFileInfo& info) {
    types();
    samples();
    for (uint32_t f = 1; f < tree_.frames().size(); ++f) place(f);
    for (const auto& [module, id] : modules_) mapping(module, id);
    for (const std::string& text : strings_.all()) profile_.bytes(6, text);
    profile_.number(9, info.start_realtime_ns);
    profile_.number(10, info.duration_ns > 0 ? static_cast<uint64_t>(info.duration_ns) : 0);
    profile_.number(14, strings_.of(tree_.metric));
    return profile_.text();
  }

 private:
  void type(std::string_view name, std::string_view unit) {
    Message type;
    type.number(1, strings_.of(name));
    type.number(2, strings_.of(unit));
    profile_.bytes(1, type.text());
  }
  void types() {
    type("count", "count");
    type(tree_.metric, tree_.unit);
    if (tree_.compared) type(tree_.metric + " before", tree_.unit);
  }

  void samples() {
    for (uint32_t n = 1; n < tree_.nodes().size(); ++n) {
      const TreeNode& node = tree_.nodes()[n];
      if (node.value == 0 && node.before == 0 && node.count == 0) continue;
      std::vector<uint64_t> locations;  // innermost first
      for (uint32_t at = n; at != 0; at = tree_.nodes()[at].parent) locations.push_back(tree_.nodes()[at].frame);
      std::vector<uint64_t> values{node.count, static_cast<uint64_t>(node.value)};
      if (tree_.compared) values.push_back(static_cast<uint64_t>(node.before));
      Message sample;
      sample.packed(1, locations);
      sample.packed(2, values);
      profile_.bytes(2, sample.text());
    }
  }

  // A frame is one location and one function, both with the frame's number.
  void place(uint32_t f) {
    const TreeFrame& frame = tree_.frames()[f];
    Message line;
    line.number(1, f);
    line.number(2, frame.line);
    Message location;
    location.number(1, f);
    if (frame.module != StringId{}) {
      location.number(2, modules_.try_emplace(static_cast<uint32_t>(frame.module), modules_.size() + 1).first->second);
    }
    location.bytes(4, line.text());
    profile_.bytes(4, location.text());
    Message function;
    function.number(1, f);
    function.number(2, strings_.of(tree_.text(frame.name)));
    function.number(3, strings_.of(tree_.text(frame.name)));
    function.number(4, strings_.of(tree_.text(frame.file)));
    profile_.bytes(5, function.text());
  }

  void mapping(uint32_t module, uint64_t id) {
    Message mapping;
    mapping.number(1, id);
    mapping.number(5, strings_.of(tree_.text(StringId{module})));
    for (const uint32_t has : {7, 8, 9}) mapping.number(has, 1);  // has_functions, has_filenames, has_line_numbers
    profile_.bytes(3, mapping.text());
  }

  const CallTree& tree_;
  Message profile_;
  Strings strings_;
  std::unordered_map<uint32_t, uint64_t> modules_;  // StringId -> id
};

}  // namespace

std::string gzip_bytes(std::string_view bytes) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  if (deflateInit2(&stream, 6, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = bytes.size() > UINT32_MAX ? Z_BUF_ERROR : deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("pprof: more than 4 GiB of samples");
  return packed;
}

void write_pprof(const CallTree& tree, const StackFileInfo& info, Sink& sink) {
  const std::string bytes = Profile(tree).make(info);
  // A sink with that file name compresses the data itself.
  sink.write(sink.path().ends_with(".gz") ? bytes : gzip_bytes(bytes));
}

}  // namespace prof::analyzer
