#include "analyzer/table/cell_text.h"

#include "analyzer/base/json/json_text.h"
#include "analyzer/base/parallel.h"
#include "analyzer/base/sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

namespace prof::analyzer {

namespace {

constexpr size_t kTextsInBlock = 512;  // rows: their cells and lines fit a core's own cache

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

// scaled_time() with integers. It rounds as the text of the double does, except for a value exactly between two texts.
char* put_scaled_time(char* to, int64_t ns) {
  const uint64_t magnitude = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  if (magnitude < 1000) return put_text(put_signed(to, ns), "ns");
  const bool seconds = magnitude >= 1'000'000'000, milliseconds = magnitude >= 1'000'000;
  const uint64_t unit_ns = seconds ? 1'000'000'000 : milliseconds ? 1'000'000 : 1000;
  const char* const unit = seconds ? "s" : milliseconds ? "ms" : "us";
  constexpr uint64_t kPowers[] = {1, 10, 100, 1000, 10'000};
  constexpr uint64_t kExact = 1'000'000'000'000'000;  // far below the range where doubles skip integers
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

// Number of characters of put_scaled_time(): five digits, a point and the unit; rounding may give a sixth digit.
size_t scaled_width(int64_t ns) {
  constexpr uint64_t kSecond = 1'000'000'000, kPlainUntil = 10'000 * kSecond;
  const auto magnitude = static_cast<uint64_t>(ns);
  if (ns < 1000 || magnitude >= kPlainUntil) {
    char text[48];
    return static_cast<size_t>(put_scaled_time(text, ns) - text);
  }
  uint64_t power = 10'000;
  while (magnitude >= power) power *= 10;
  const bool rounds_up = magnitude >= power - power / 200'000;
  return (magnitude < kSecond ? 8 : 7) + (rounds_up ? 1 : 0);
}

size_t count_width(int64_t value) {
  return value < 0 ? 1 + decimal_digits(0 - static_cast<uint64_t>(value))
                   : decimal_digits(static_cast<uint64_t>(value));
}

bool is_of_nsys(const TableColumn& column) { return column_info(column.id).tool == "nsys"; }

// Ties go away from zero, as in nsys, for the number as 15 digits show it: 0.25 and 0.35 are "0.3" and "0.4".
char* put_half_up(char* to, double value, int decimals) {
  constexpr double kExact = 1e14;  // a digit more does not matter
  constexpr double kSlack = 1 + 4 * std::numeric_limits<double>::epsilon();
  const double power = std::pow(10.0, decimals), scaled = std::fabs(value) * power;
  if (scaled < kExact) value = std::copysign(std::floor(scaled * kSlack + 0.5) / power, value);
  return fmt::format_to(to, "{:.{}f}", value, decimals);
}

char* put_number(char* to, const TableColumn& column, int64_t cell, TimeUnit unit) {
  switch (column.type) {
    case CellType::Text: break;
    case CellType::Count: return put_signed(to, cell);
    case CellType::Nanoseconds:
      if (unit == TimeUnit::Auto) return put_scaled_time(to, cell);
      if (unit == TimeUnit::Ns) return put_signed(to, cell);
      return put_text(to, time_in(cell, unit));
    case CellType::MeanNanoseconds:
      if (unit == TimeUnit::Ns && is_of_nsys(column)) return put_half_up(to, Table::real(cell), 1);
      return put_text(to, mean_time_in(Table::real(cell), unit));
    case CellType::Real:
      if (is_of_nsys(column)) return put_half_up(to, Table::real(cell), column.decimals);
      return fmt::format_to(to, "{:.{}f}", Table::real(cell), column.decimals);
  }
  return to;
}

}  // namespace

size_t put_commas(char* number, size_t size) {
  const size_t first = size != 0 && number[0] == '-' ? 1 : 0;
  const auto point = static_cast<size_t>(std::find(number, number + size, '.') - number);
  if (point <= first + 3) return size;
  size_t commas = (point - first - 1) / 3;
  const size_t grown = size + commas;
  std::memmove(number + point + commas, number + point, size - point);
  for (size_t from = point, to = point + commas; commas != 0; --commas) {
    from -= 3;
    to -= 3;
    std::memmove(number + to, number + from, 3);
    number[--to] = ',';
  }
  return grown;
}

size_t display_width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string scaled_time(int64_t ns) {
  char text[48];
  return std::string(text, put_scaled_time(text, ns));
}

CellTexts::CellTexts(const Table& table, TimeUnit unit, CellLook look)
    : table_(table), unit_(unit), look_(std::move(look)) {
  add_new_texts();
}

void CellTexts::add_new_texts() {
  of_text_.reserve(table_.texts());
  for (size_t id = of_text_.size(); id < table_.texts(); ++id) {
    std::string_view text = table_.text(static_cast<int64_t>(id));
    const bool changes = look_.text && (look_.unchanged == 0 || text.size() > look_.unchanged);
    if (changes || !is_plain(text)) {
      std::string made = look_.raw ? std::string(text) : readable_utf8(text);
      text = made_.emplace_back(look_.text ? look_.text(std::move(made)) : std::move(made));
    }
    of_text_.push_back({text, display_width(text)});
  }
}

ShownCell CellTexts::of(size_t row, size_t column, Buffer& buffer) const {
  const TableColumn& cells = table_.columns()[column];
  const int64_t cell = cells.cells[row];
  if (cell == kEmptyCell) return {};
  if (cells.type == CellType::Text) return of_text_[static_cast<size_t>(cell)];
  auto size = static_cast<size_t>(put_number(buffer, cells, cell, unit_) - buffer);
  if (look_.commas && size <= sizeof(buffer) / 2) size = put_commas(buffer, size);
  return {{buffer, size}, size};
}

bool CellTexts::is_whole(size_t column) const {
  const CellType type = table_.columns()[column].type;
  return type == CellType::Count || (type == CellType::Nanoseconds && unit_ == TimeUnit::Ns);
}

size_t CellTexts::widest(size_t column, size_t first, size_t last) const {
  const TableColumn& cells = table_.columns()[column];
  const std::span<const int64_t> some(cells.cells.data() + first, last - first);
  size_t widest = 0;
  if (cells.type == CellType::Text) {
    for (const int64_t cell : some) {
      if (cell != kEmptyCell) widest = std::max(widest, of_text_[static_cast<size_t>(cell)].width);
    }
  } else if (is_whole(column)) {
    // Empty cells, which are the smallest number, count as zeros.
    int64_t least = 0, most = 0;
    bool any = false;
    for (const int64_t cell : some) {
      const int64_t value = cell == kEmptyCell ? 0 : cell;
      any |= cell != kEmptyCell;
      least = std::min(least, value);
      most = std::max(most, value);
    }
    const auto width_of = [&](int64_t value) {
      const size_t digits = count_width(value) - (value < 0 ? 1 : 0);
      return count_width(value) + (look_.commas ? (digits - 1) / 3 : 0);
    };
    if (any) widest = std::max(width_of(most), least < 0 ? width_of(least) : 0);
  } else if (cells.type == CellType::Nanoseconds && unit_ == TimeUnit::Auto && !look_.commas) {
    for (const int64_t cell : some) {
      if (cell != kEmptyCell) widest = std::max(widest, scaled_width(cell));
    }
  } else {
    Buffer buffer;
    for (size_t row = first; row < last; ++row) widest = std::max(widest, of(row, column, buffer).width);
  }
  return widest;
}

// The state of one thread: the rows of its block, and texts of earlier blocks, which often repeat.
class RowWriter::Block {
 public:
  explicit Block(const RowWriter& writer) : writer_(writer) {}

  const CellTexts& rows(size_t first, size_t last) {
    constexpr size_t kMostTexts = 1 << 16;
    if (!made_ || made_->texts() > kMostTexts) {
      texts_.reset();
      made_ = std::make_unique<Table>(writer_.table_.blank());
      texts_ = std::make_unique<CellTexts>(*made_, writer_.unit_, writer_.look_);
    }
    made_->clear_rows();
    writer_.table_.make_rows(first, last, *made_);
    texts_->add_new_texts();
    return *texts_;
  }

  LineBuffer lines;
  std::vector<size_t> widths;

 private:
  const RowWriter& writer_;
  std::unique_ptr<Table> made_;
  std::unique_ptr<CellTexts> texts_;
};

RowWriter::RowWriter(const Table& table, TimeUnit unit, CellLook look)
    : table_(table), unit_(unit), look_(std::move(look)) {
  if (!table.is_listing()) stored_ = std::make_unique<CellTexts>(table, unit_, look_);
}

// Calls visit(block, texts, first, last) with rows of texts.table(), then use(block) block by block. Visits one block
// out of `step`, and the last one.
template <class Visit, class Use> void RowWriter::each_block(size_t step, Visit&& visit, Use&& use) const {
  const size_t rows = table_.rows(), blocks = (rows + kTextsInBlock - 1) / kTextsInBlock;
  if (blocks == 0) return;
  parallel_in_order((blocks - 1 + step - 1) / step + 1, [this] { return Block(*this); },
                    [&](Block& block, size_t i) {
                      const size_t first = std::min(i * step, blocks - 1) * kTextsInBlock;
                      const size_t last = std::min(rows, first + kTextsInBlock);
                      if (stored_) {
                        visit(block, *stored_, first, last);
                      } else {
                        visit(block, block.rows(first, last), size_t{0}, last - first);
                      }
                    },
                    [&](Block& block, size_t) { use(block); });
}

std::vector<size_t> RowWriter::widths(const std::vector<std::string>& titles) const {
  std::vector<size_t> widths;
  for (const std::string& title : titles) widths.push_back(display_width(title));
  const auto most = [&](size_t column) {
    return table_.columns()[column].type == CellType::Text ? kWidestText : SIZE_MAX;
  };
  // A long listing is created again for its text, so a sample of its rows from start to end determines the widths.
  constexpr size_t kAllUntil = 1 << 20, kSampledBlocks = 512;
  const size_t step = stored_ || table_.rows() <= kAllUntil ? 1 : (table_.rows() / kTextsInBlock) / kSampledBlocks;
  each_block(
      step,
      [&](Block& block, const CellTexts& texts, size_t first, size_t last) {
        block.widths.assign(titles.size(), 0);
        for (size_t column = 0; column < titles.size(); ++column)
          block.widths[column] = texts.widest(column, first, last);
      },
      [&](const Block& block) {
        for (size_t column = 0; column < titles.size(); ++column)
          widths[column] = std::max(widths[column], std::min(block.widths[column], most(column)));
      });
  return widths;
}

void RowWriter::write(Sink& sink, const Put& put, std::string_view between_calls) const {
  bool first_block = true;
  each_block(
      1,
      [&](Block& block, const CellTexts& texts, size_t first, size_t last) {
        block.lines.clear();
        put(texts, first, last, block.lines);
      },
      [&](const Block& block) {
        if (!first_block) sink.write(between_calls);
        first_block = false;
        sink.write(block.lines.view());
      });
}

}  // namespace prof::analyzer
