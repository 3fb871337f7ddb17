#include "analyzer/command/top_screen.h"

#include "analyzer/base/json/json_text.h"
#include "analyzer/live/live_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <string_view>
#include <vector>

#ifdef PROF_HAVE_CURSES
#define NCURSES_NOMACROS 1  // its names of macros are those of functions here
#include <curses.h>
#include <term.h>
#endif

namespace prof::analyzer {

#ifdef PROF_HAVE_CURSES

namespace {

constexpr std::string_view kKeys = "q end   s order of kernels   n next process   p previous   a all";

constexpr int kDrawAgain = 'l' & 0x1f;  // Ctrl-L, after other output on the terminal

void order_kernels(LiveSample& sample, bool by_count, bool by_name) {
  std::stable_sort(sample.kernels.begin(), sample.kernels.end(), [&](const LiveKernel& a, const LiveKernel& b) {
    if (by_name) return a.name < b.name;
    return by_count ? a.count > b.count : a.total_ns > b.total_ns;
  });
}

void put_line(int row, std::string_view text) {
  const std::string line = cut_text(std::string(text), static_cast<size_t>(std::max(COLS - 1, 1)));
  mvaddnstr(row, 0, line.data(), static_cast<int>(line.size()));
  clrtoeol();
}

}  // namespace

std::unique_ptr<TopScreen> TopScreen::open() {
  if (isatty(STDOUT_FILENO) != 1 || isatty(STDIN_FILENO) != 1) return nullptr;
  int error = 0;
  if (setupterm(nullptr, STDOUT_FILENO, &error) != OK) return nullptr;
  del_curterm(cur_term);         // initscr() makes its own
  std::setlocale(LC_CTYPE, "");  // the width of characters
  if (initscr() == nullptr) return nullptr;
  cbreak();
  noecho();
  curs_set(0);
  keypad(stdscr, TRUE);
  return std::unique_ptr<TopScreen>(new TopScreen);
}

TopScreen::~TopScreen() { endwin(); }

void TopScreen::draw(std::span<const LiveSample> samples, const std::string& target) {
  constexpr std::string_view kOrders[] = {"time", "count", "name"};
  process_ = std::min(process_, samples.size());
  std::vector<LiveSample> shown(samples.begin(), samples.end());
  if (process_ != 0) shown = {samples[process_ - 1]};
  for (LiveSample& sample : shown) order_kernels(sample, order_ == Order::Count, order_ == Order::Name);
  // Ten other lines of a process, and two of the screen.
  constexpr int kOther = 12, kFewest = 3;
  const int room = (LINES - 2) / std::max<int>(static_cast<int>(shown.size()), 1) - kOther;
  const std::string text = shown.empty() ? fmt::format("no process records into {}\n", target)
                                         : live_text(shown, static_cast<size_t>(std::max(room, kFewest)));
  erase();
  put_line(0, fmt::format("prof top {}   process {}   kernels by {}", readable_utf8(target),
                          process_ == 0 ? fmt::format("all of {}", samples.size())
                                        : fmt::format("{} of {}", process_, samples.size()),
                          kOrders[static_cast<size_t>(order_)]));
  int row = 1;
  for (std::string_view left = text; !left.empty() && row < LINES - 1; ++row) {
    const size_t end = left.find('\n');
    put_line(row, left.substr(0, end));
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
  }
  put_line(LINES - 1, kKeys);
  refresh();
}

bool TopScreen::show(std::span<const LiveSample> samples, const std::string& target,
                     std::chrono::steady_clock::time_point until) {
  for (;;) {
    draw(samples, target);
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) return true;
    timeout(static_cast<int>(left));
    switch (getch()) {
      case ERR: return true;  // no key until then
      case 'q': return false;
      case 's': order_ = static_cast<Order>((static_cast<int>(order_) + 1) % 3); break;
      case 'n':
      case KEY_RIGHT: process_ = process_ >= samples.size() ? 0 : process_ + 1; break;
      case 'p':
      case KEY_LEFT: process_ = process_ == 0 ? samples.size() : process_ - 1; break;
      case 'a': process_ = 0; break;
      case kDrawAgain: clearok(stdscr, TRUE); break;
      default: break;  // another key, or another size of the terminal
    }
  }
}

#else

std::unique_ptr<TopScreen> TopScreen::open() { return nullptr; }
TopScreen::~TopScreen() = default;
bool TopScreen::show(std::span<const LiveSample>, const std::string&, std::chrono::steady_clock::time_point) {
  return false;
}
void TopScreen::draw(std::span<const LiveSample>, const std::string&) {}

#endif

}  // namespace prof::analyzer
