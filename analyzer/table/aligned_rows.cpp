#include "analyzer/table/aligned_rows.h"

#include "analyzer/base/json/json_text.h"

#include <algorithm>
#include <cstring>

namespace prof::analyzer {

namespace {

constexpr size_t kGap = 2;
constexpr size_t kRows = 64;  // rows per stretch: their lines fit the L1 cache

// Copies exactly `size` bytes. Most texts of numbers have 4 to 16: two overlapping blocks replace a call.
void copy_short(char* to, const char* from, size_t size) {
  if (size > 16 || size < 4) {
    std::memcpy(to, from, size);
  } else if (size >= 8) {
    uint64_t head, tail;
    std::memcpy(&head, from, 8);
    std::memcpy(&tail, from + size - 8, 8);
    std::memcpy(to, &head, 8);
    std::memcpy(to + size - 8, &tail, 8);
  } else {
    uint32_t head, tail;
    std::memcpy(&head, from, 4);
    std::memcpy(&tail, from + size - 4, 4);
    std::memcpy(to, &head, 4);
    std::memcpy(to + size - 4, &tail, 4);
  }
}

// Writes the number before `end`, with a comma before every third digit.
void put_with_commas(char* end, uint64_t value) {
  for (; value >= 1000; value /= 1000) {
    const auto three = static_cast<uint32_t>(value % 1000);
    *--end = static_cast<char>('0' + three % 10);
    *--end = static_cast<char>('0' + three / 10 % 10);
    *--end = static_cast<char>('0' + three / 100);
    *--end = ',';
  }
  put_decimal(end - decimal_digits(value), value);
}

}  // namespace

// Lines under construction: `count` rows from `first` on, each with the end of its text.
struct AlignedRows::Stretch {
  size_t first = 0, count = 0;
  std::vector<char> bytes;
  size_t ends[kRows];
  bool wide[kRows];  // has a cell wider than its column, or characters of several bytes
};

AlignedRows::AlignedRows(const std::vector<TableColumn>& columns, std::vector<size_t> widths, size_t indent, bool cut)
    : widths_(std::move(widths)), cut_(cut), indent_(indent), pitch_(indent) {
  for (size_t i = 0; i < columns.size(); ++i) {
    left_.push_back(columns[i].type == CellType::Text);
    begins_.push_back(pitch_);
    if (widths_[i] != kHidden) pitch_ += widths_[i] + kGap;
  }
}

void AlignedRows::put_column(const CellTexts& texts, size_t column, Stretch& stretch) const {
  const std::vector<int64_t>& cells = texts.table().columns()[column].cells;
  const bool left = left_[column], whole = texts.is_whole(column), commas = texts.commas();
  const size_t width = widths_[column], begin = begins_[column], end = begin + width;
  CellTexts::Buffer buffer;
  for (size_t i = 0; i < stretch.count; ++i) {
    const int64_t cell = cells[stretch.first + i];
    if (cell == kEmptyCell) continue;
    char* const line = stretch.bytes.data() + i * pitch_;
    if (whole && cell >= 0) {
      const auto value = static_cast<uint64_t>(cell);
      const size_t digits = decimal_digits(value);
      if (digits + (commas ? (digits - 1) / 3 : 0) > width) {
        stretch.wide[i] = true;
        continue;
      }
      if (commas) {
        put_with_commas(line + end, value);
      } else {
        void(put_decimal(line + end - digits, value));
      }
      stretch.ends[i] = end;
      continue;
    }
    const ShownCell shown = texts.of(stretch.first + i, column, buffer);
    if (shown.width > width || shown.text.size() != shown.width) {
      stretch.wide[i] = true;
    } else {
      char* const to = line + (left ? begin : end - shown.width);
      copy_short(to, shown.text.data(), shown.width);
      stretch.ends[i] = static_cast<size_t>(to - line) + shown.width;
    }
  }
}

void AlignedRows::put_wide_row(const CellTexts& texts, size_t row, LineBuffer& lines) const {
  CellTexts::Buffer buffer;
  lines.spaces(indent_);
  for (size_t i = 0; i < widths_.size(); ++i) {
    if (widths_[i] == kHidden) continue;
    ShownCell shown = texts.of(row, i, buffer);
    std::string less;
    if (cut_ && left_[i] && shown.width > widths_[i]) {
      less = cut_text(std::string(shown.text), widths_[i]);
      shown = {less, display_width(less)};
    }
    const size_t padding = widths_[i] - std::min(widths_[i], shown.width);
    lines.spaces(left_[i] ? 0 : padding) += shown.text;
    lines.spaces((left_[i] ? padding : 0) + kGap);
  }
  lines.trim_spaces();
  lines += '\n';
}

void AlignedRows::put(const CellTexts& texts, size_t first, size_t last, LineBuffer& lines) const {
  Stretch stretch;
  for (; first < last; first += stretch.count) {
    stretch.first = first;
    stretch.count = std::min(kRows, last - first);
    stretch.bytes.assign(stretch.count * pitch_, ' ');
    std::fill_n(stretch.ends, stretch.count, 0);
    std::fill_n(stretch.wide, stretch.count, false);
    for (size_t i = 0; i < widths_.size(); ++i) {
      if (widths_[i] != kHidden) put_column(texts, i, stretch);
    }
    for (size_t i = 0; i < stretch.count; ++i) {
      if (stretch.wide[i]) {
        put_wide_row(texts, first + i, lines);
        continue;
      }
      lines += std::string_view(stretch.bytes.data() + i * pitch_, stretch.ends[i]);
      lines.trim_spaces();  // a text may end in spaces
      lines += '\n';
    }
  }
}

}  // namespace prof::analyzer
