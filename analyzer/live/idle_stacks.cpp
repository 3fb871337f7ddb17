#include "analyzer/live/idle_stacks.h"

#include "analyzer/analysis/idle/host_code_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace prof::analyzer {

namespace {

constexpr size_t kMostSamples = 100'000;  // 5 s of the most that a recorder writes
constexpr size_t kMostWords = 1'000'000;  // of stacks, 8 MB
constexpr size_t kMostFrames = 12;

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

void IdleStacks::add(const format::HostSample& sample) {
  if (samples_.size() == kMostSamples) samples_.erase(samples_.begin(), samples_.begin() + kMostSamples / 2);
  samples_.push_back(sample);
}

void IdleStacks::add(const format::StackDef& stack) {
  const auto id = static_cast<uint32_t>(stack.id);
  Stack made;
  made.python = stack.python.count != 0;
  (made.python ? stack.python : stack.native).for_each([&](uint64_t word) {
    if (made.words.size() < kMostFrames) made.words.push_back(word);
  });
  words_ += made.words.size();
  if (!stacks_.insert_or_assign(id, std::move(made)).second) return;
  order_.push_back(id);
  while (words_ > kMostWords && order_.size() > 1) {
    const auto oldest = stacks_.find(order_.front());
    words_ -= oldest->second.words.size();
    stacks_.erase(oldest);
    order_.pop_front();
  }
}

std::vector<std::string> IdleStacks::frames(uint32_t stack, const std::function<std::string(uint32_t)>& text_of) const {
  std::vector<std::string> texts;
  const auto found = stacks_.find(stack);
  if (found == stacks_.end()) return texts;
  for (const uint64_t word : found->second.words) {
    if (found->second.python) {
      const auto frame = python_.find(static_cast<uint32_t>(format::python_frame_of(word)));
      if (frame == python_.end()) continue;
      const std::string file = text_of(static_cast<uint32_t>(frame->second.file));
      texts.push_back(fmt::format("{}({}): {}", file_name(file), frame->second.line,
                                  text_of(static_cast<uint32_t>(frame->second.function))));
      continue;
    }
    // The latest image that has the address.
    const auto image = std::find_if(images_.rbegin(), images_.rend(), [&](const format::ImageDef& each) {
      return each.begin < word && word <= each.end;
    });
    const std::string path = image == images_.rend() ? "" : text_of(static_cast<uint32_t>(image->path));
    texts.push_back(image == images_.rend() ? fmt::format("{:#x}", word)
                                            : fmt::format("{}+{:#x}", file_name(path), word - image->base));
  }
  return texts;
}

std::optional<LiveIdleStack> IdleStacks::top(const std::function<bool(uint64_t)>& forgotten,
                                             const std::function<bool(uint64_t)>& is_idle,
                                             const std::function<std::string(uint32_t)>& text_of) {
  std::erase_if(samples_, [&](const format::HostSample& sample) { return forgotten(sample.time); });
  std::sort(samples_.begin(), samples_.end(),
            [](const format::HostSample& a, const format::HostSample& b) { return a.time < b.time; });
  using Key = std::tuple<uint32_t, uint8_t, uint8_t, uint32_t>;
  std::map<Key, uint64_t> counts;
  LiveIdleStack top;
  for (const format::HostSample& sample : samples_) {
    if (!launching_.contains(static_cast<uint32_t>(sample.thread)) || !is_idle(sample.time)) continue;
    ++counts[{static_cast<uint32_t>(sample.stack), static_cast<uint8_t>(sample.state),
              static_cast<uint8_t>(sample.blocked_in), static_cast<uint32_t>(sample.detail)}];
    ++top.of;
  }
  if (counts.empty()) return std::nullopt;
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto [stack, state, blocked_in, detail] = most->first;
  top.samples = most->second;
  switch (static_cast<format::HostState>(state)) {
    case format::HostState::Running: top.state = "running"; break;
    case format::HostState::Runnable: top.state = "runnable"; break;
    case format::HostState::Blocked: top.state = blocked_text(static_cast<format::BlockedIn>(blocked_in)); break;
  }
  if (const std::string about = text_of(detail); !about.empty()) top.state += ": " + about;
  top.frames = frames(stack, text_of);
  return top;
}

void IdleStacks::add_texts(std::set<uint32_t>& used) const {
  for (const auto& [id, frame] : python_) {
    used.insert(static_cast<uint32_t>(frame.file));
    used.insert(static_cast<uint32_t>(frame.function));
  }
  for (const format::ImageDef& image : images_) used.insert(static_cast<uint32_t>(image.path));
  for (const format::HostSample& sample : samples_) used.insert(static_cast<uint32_t>(sample.detail));
}

}  // namespace prof::analyzer
