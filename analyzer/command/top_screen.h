// prof top on a whole terminal: what keys select, redrawn each interval. Without ncurses in the build, without a
// terminfo entry for the terminal, or into a pipe there is no screen, and `prof top` prints text.
#pragma once

#include "analyzer/live/live_log.h"

#include <chrono>
#include <memory>
#include <span>
#include <string>

namespace prof::analyzer {

class TopScreen {
 public:
  // Null: stdout or stdin is no terminal that a screen can be drawn on.
  static std::unique_ptr<TopScreen> open();
  ~TopScreen();  // gives the terminal back
  TopScreen(const TopScreen&) = delete;
  TopScreen& operator=(const TopScreen&) = delete;

  // Draws the samples and follows keys until the time has come. False: the user ended it.
  bool show(std::span<const LiveSample> samples, const std::string& target,
            std::chrono::steady_clock::time_point until);

 private:
  TopScreen() = default;
  void draw(std::span<const LiveSample> samples, const std::string& target);
  enum class Order { Time, Count, Name };
  Order order_{};
  size_t process_ = 0;  // 0: all
};

}  // namespace prof::analyzer
