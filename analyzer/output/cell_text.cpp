#include "analyzer/output/cell_text.h"

#include "analyzer/model/parallel.h"
#include "analyzer/output/json_text.h"
#include "analyzer/output/sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace prof::analyzer {

namespace {

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

// "{:.{}f}" of the time in its unit.
std::string rounded_time(int64_t ns, double unit_ns, const char* unit) {
  const double value = static_cast<double>(ns) / unit_ns, size = std::fabs(value);
  const int decimals = size < 10 ? 4 : size < 100 ? 3 : size < 1000 ? 2 : size < 10000 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, decimals, unit);
}

char* put_text(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// scaled_time() in integers: rounds as the text of the double does but where that lies in the middle of two texts.
char* put_scaled_time(char* to, int64_t ns) {
  const uint64_t magnitude = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  if (magnitude < 1000) return put_text(put_signed(to, ns), "ns");
  const bool seconds = magnitude >= 1'000'000'000, milliseconds = magnitude >= 1'000'000;
  const uint64_t unit_ns = seconds ? 1'000'000'000 : milliseconds ? 1'000'000 : 1000;
  const char* const unit = seconds ? "s" : milliseconds ? "ms" : "us";
  constexpr uint64_t kPowers[] = {1, 10, 100, 1000, 10'000};
  constexpr uint64_t kExact = 1'000'000'000'000'000;  // far from where doubles skip integers
  const uint64_t whole = magnitude / unit_ns;
  const size_t decimals = whole < 10 ? 4 : whole < 100 ? 3 : whole < 1000 ? 2 : whole < 10000 ? 1 : 0;
  const uint64_t power = kPowers[decimals], step = std::max<uint64_t>(1, unit_ns / power);
  const uint64_t rest = magnitude % step;
  if (magnitude >= kExact || 2 * rest == step)
    return put_text(to, rounded_time(ns, static_cast<double>(unit_ns), unit));
  const uint64_t scaled =
      unit_ns < power ? magnitude * (power / unit_ns) : magnitude / step + (2 * rest > step ? 1 : 0);
  if (ns < 0) *to++ = '-';
  to = put_decimal(to, scaled / power);
  if (decimals != 0) {
    *to++ = '.';
    uint64_t digits = scaled % power;
    for (size_t i = decimals; i-- > 0; digits /= 10) to[i] = static_cast<char>('0' + digits % 10);
    to += decimals;
  }
  return put_text(to, unit);
}

char* put_number(char* to, const TableColumn& column, int64_t cell, TimeUnit unit) {
  switch (column.type) {
    case CellType::Text: break;
    case CellType::Count: return put_signed(to, cell);
    case CellType::Nanoseconds:
      if (unit == TimeUnit::Auto) return put_scaled_time(to, cell);
      if (unit == TimeUnit::Ns) return put_signed(to, cell);
      return put_text(to, time_in(cell, unit));
    case CellType::MeanNanoseconds: return put_text(to, mean_time_in(Table::real(cell), unit));
    case CellType::Real: return fmt::format_to(to, "{:.{}f}", Table::real(cell), column.decimals);
  }
  return to;
}

}  // namespace

size_t display_width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string scaled_time(int64_t ns) {
  char text[48];
  return std::string(text, put_scaled_time(text, ns));
}

CellTexts::CellTexts(const Table& table, TimeUnit unit, CellLook look)
    : table_(table), unit_(unit), look_(std::move(look)) {
  of_text_.reserve(table.texts());
  for (size_t id = 0; id < table.texts(); ++id) {
    std::string_view text = table.text(static_cast<int64_t>(id));
    if (look_.text || !is_plain(text)) {
      std::string made = readable_utf8(text);
      text = made_.emplace_back(look_.text ? look_.text(std::move(made)) : std::move(made));
    }
    of_text_.push_back({text, display_width(text)});
  }
}

ShownCell CellTexts::of(const TableColumn& column, int64_t cell, Buffer& buffer) const {
  if (cell == kEmptyCell) return {};
  if (column.type == CellType::Text) return of_text_[static_cast<size_t>(cell)];
  auto size = static_cast<size_t>(put_number(buffer, column, cell, unit_) - buffer);
  if (look_.number) {
    const std::string text = look_.number({buffer, size});
    size = std::min(text.size(), sizeof(buffer));
    std::memcpy(buffer, text.data(), size);
  }
  return {{buffer, size}, size};
}

std::vector<size_t> CellTexts::widths(const std::vector<std::string>& titles) const {
  std::vector<size_t> widths(titles.size());
  parallel_for(titles.size(), [&](size_t i) {
    const TableColumn& column = table_.columns()[i];
    Buffer buffer;
    size_t width = display_width(titles[i]);
    for (const int64_t cell : column.cells) width = std::max(width, of(column, cell, buffer).width);
    widths[i] = width;
  });
  return widths;
}

void write_rows(size_t rows, Sink& sink, const std::function<void(size_t, std::string&)>& put) {
  constexpr size_t kInBlock = 4096;
  std::vector<std::string> blocks(2 * size_t{worker_count()});
  for (size_t first = 0; first < rows; first += blocks.size() * kInBlock) {
    const size_t count = std::min(blocks.size(), (rows - first + kInBlock - 1) / kInBlock);
    parallel_for(count, [&](size_t block) {
      blocks[block].clear();
      const size_t begin = first + block * kInBlock;
      for (size_t row = begin; row < std::min(rows, begin + kInBlock); ++row) put(row, blocks[block]);
    });
    for (size_t block = 0; block < count; ++block) sink.write(blocks[block]);
  }
}

}  // namespace prof::analyzer
