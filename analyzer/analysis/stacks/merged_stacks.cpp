#include "analyzer/analysis/stacks/merged_stacks.h"
#include "analyzer/base/text_parts.h"

#include "preload/format/stack_definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace prof::analyzer {

namespace {

// The function that evaluates Python code. Parts of it that the compiler split off have its name and a suffix. From
// Python 3.14 on the interpreter may consist of one function per instruction; these call each other by tail calls.
bool is_loop(std::string_view function) {
  return function.starts_with("_PyEval_EvalFrameDefault") || function.starts_with("_TAIL_CALL_");
}

bool is_interpreter(std::string_view module) { return module.starts_with("python") || module.starts_with("libpython"); }

// "model.py(57): forward", as torch.profiler writes a frame. A text of another form ("nn.Module: Linear_0") is the
// function's name.
void parse_python(std::string_view text, std::string_view& file, uint32_t& line, std::string_view& function) {
  const size_t colon = text.find("): ");
  if (colon == std::string_view::npos) return;
  const size_t open = text.rfind('(', colon);
  if (open == std::string_view::npos || open == 0) return;
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + open + 1, text.data() + colon, number);
  if (error != std::errc() || end != text.data() + colon || colon + 3 == text.size()) return;
  line = number;
  file = text.substr(0, open);
  function = text.substr(colon + 3);
}

// Where its debugging symbols are installed, the C library's frames have lines too. The code that called it says more.
bool is_of_c_runtime(std::string_view module) {
  constexpr std::string_view kNames[] = {"libc.so",  "libpthread.so", "libc-",
                                         "ld-linux", "libstdc++.so",  "libgcc_s.so"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return module.starts_with(name); });
}

}  // namespace

MergedStacks::MergedStacks(const Trace& trace, const Symbols& symbols, FoldRules rules, NameForm names)
    : trace_(trace),
      symbols_(symbols),
      rules_(std::move(rules)),
      names_(names),
      rows_(trace.stacks.frames()),
      stacks_(trace.stacks.size()) {
  frames_.emplace_back();
}

uint32_t MergedStacks::row(const TreeFrame& shown, const std::string& full) {
  const std::string key =
      fmt::format("{}:{}:{}:{}:{}", static_cast<uint32_t>(shown.name), static_cast<uint32_t>(shown.file),
                  static_cast<uint32_t>(shown.module), shown.line, static_cast<int>(shown.kind));
  const auto [found, added] = known_.try_emplace(key, static_cast<uint32_t>(frames_.size()));
  if (!added) return found->second;
  Row row;
  row.shown = shown;
  const bool python = shown.kind == TreeFrameKind::Python;
  if (shown.kind != TreeFrameKind::Folded && !is_seam(shown.kind)) {
    const std::string function = python ? full : short_function_name(full);
    row.rule = rules_.find({python ? strings_[shown.file] : strings_[shown.module], python, function, full});
    row.loop = !python && is_loop(full);
    row.interpreter = !python && is_interpreter(strings_[shown.module]);
  }
  frames_.push_back(row);
  return found->second;
}

uint32_t MergedStacks::label(std::string_view text, TreeFrameKind kind) {
  TreeFrame shown;
  shown.name = strings_.intern(fmt::format("[{}]", text));
  shown.kind = kind;
  return row(shown, {});
}

void MergedStacks::add_rows(FrameId id, std::vector<uint32_t>& to) {
  const Frame& frame = trace_.stacks[id];
  TreeFrame shown;
  if (frame.kind != FrameKind::Native) {
    shown.kind = TreeFrameKind::Python;
    std::string_view file = trace_.text(frame.file), function = trace_.text(frame.function);
    shown.line = frame.line;
    if (frame.kind == FrameKind::Text) parse_python(trace_.text(frame.function), file, shown.line, function);
    if (frame.kind == FrameKind::Python && function == format::kUnknownPythonFrames)
      shown.kind = TreeFrameKind::Unknown;
    shown.name = strings_.intern(function);
    shown.file = strings_.intern(file);
    to.push_back(row(shown, std::string(function)));
    return;
  }
  shown.module = strings_.intern(file_name(trace_.text(trace_.stacks[frame.module].path)));
  const std::span<const SymbolFrame> symbols = symbols_.at(id);
  for (const SymbolFrame& symbol : symbols) {
    std::string full = demangled_name(symbols_.text(symbol.function));
    shown.kind = symbol.inlined ? TreeFrameKind::Inlined : TreeFrameKind::Native;
    shown.file = strings_.intern(symbols_.text(symbol.file));
    shown.line = symbol.line;
    if (symbol.function == StringId{}) {
      full = analyzer::frame_text(trace_.stacks, trace_.strings, frame);
      shown.name = strings_.intern(full);
    } else if (names_ == NameForm::Mangled) {
      shown.name = strings_.intern(symbols_.text(symbol.function));
    } else {
      shown.name = strings_.intern(names_ == NameForm::Full ? full : short_function_name(full));
    }
    to.push_back(row(shown, full));
  }
  if (!symbols.empty()) return;
  shown.kind = TreeFrameKind::Unknown;
  const std::string full = analyzer::frame_text(trace_.stacks, trace_.strings, frame);
  shown.name = strings_.intern(full);
  to.push_back(row(shown, full));
}

std::span<const uint32_t> MergedStacks::rows(FrameId frame) {
  std::vector<uint32_t>& rows = rows_[static_cast<uint32_t>(frame)];
  if (rows.empty()) add_rows(frame, rows);
  return rows;
}

void MergedStacks::merge(StackId stack, std::vector<uint32_t>& to) {
  const std::span<const StackFrame> native = trace_.stacks.native(stack), python = trace_.stacks.python(stack);
  const uint32_t flags = trace_.stacks[stack].flags;
  size_t next = 0;                      // index into `python`
  size_t after_loop = SIZE_MAX;         // index into `to`: after the last loop that was replaced
  size_t first_interpreter = SIZE_MAX;  // index into `to`
  size_t loops_left = 0;
  bool tail_call = false;  // the previous frame belongs to a loop of several functions
  for (const StackFrame each : native) {
    const std::span<const uint32_t> rows = this->rows(each.frame());
    const Row& function = frames_[rows.back()];
    const bool part_of_last = tail_call && function.loop;
    tail_call = function.loop && strings_[function.shown.name].starts_with("_TAIL_CALL_");
    if (part_of_last) continue;
    if (function.loop && next < python.size()) {
      bool entry = false;
      while (next < python.size() && !entry) {
        entry = python[next].entry();
        const std::span<const uint32_t> frame = this->rows(python[next++].frame());
        to.insert(to.end(), frame.begin(), frame.end());
      }
      after_loop = to.size();
      continue;
    }
    if (function.loop) ++loops_left;
    if (function.interpreter && first_interpreter == SIZE_MAX) first_interpreter = to.size();
    to.insert(to.end(), rows.begin(), rows.end());
  }
  const bool native_cut = (flags & (format::kStackNativeCut | format::kStackBroken)) != 0;
  const bool python_cut = (flags & format::kStackPythonCut) != 0;
  if (loops_left != 0 && !python.empty() && !python_cut) ++guessed_;
  if (next == python.size()) return;
  // The remaining Python frames go where the native stack was cut. Otherwise they go after the last loop, else before
  // the first frame of the interpreter, else to the end.
  size_t at = to.size();
  if (!native_cut && !native.empty()) {
    ++guessed_;
    at = after_loop != SIZE_MAX ? after_loop : std::min(first_interpreter, to.size());
  }
  std::vector<uint32_t> rest;
  for (; next < python.size(); ++next) {
    const std::span<const uint32_t> frame = rows(python[next].frame());
    rest.insert(rest.end(), frame.begin(), frame.end());
  }
  to.insert(to.begin() + static_cast<std::ptrdiff_t>(at), rest.begin(), rest.end());
}

void MergedStacks::fold(const std::vector<uint32_t>& whole, std::vector<uint32_t>& to) {
  const bool has_python = std::any_of(whole.begin(), whole.end(),
                                      [&](uint32_t row) { return frames_[row].shown.kind == TreeFrameKind::Python; });
  for (const uint32_t each : whole) {
    const FoldRule* const rule = frames_[each].rule;
    const FoldAction action = rule == nullptr ? FoldAction::Keep : rule->action;
    if (action == FoldAction::Hide || (action == FoldAction::Interpreter && has_python)) continue;
    const uint32_t shown = action == FoldAction::Fold ? label(rule->label, TreeFrameKind::Folded) : each;
    if (action != FoldAction::Fold || to.empty() || to.back() != shown) to.push_back(shown);
  }
  if (to.empty()) to = whole;
}

std::span<const uint32_t> MergedStacks::of(StackId stack) {
  if (static_cast<uint32_t>(stack) == 0 || static_cast<uint32_t>(stack) >= stacks_.size()) return {};
  Span& span = stacks_[static_cast<uint32_t>(stack)];
  if (!span.made) {
    if (trace_.stacks.incomplete(stack)) ++incomplete_;
    std::vector<uint32_t> whole;
    merge(stack, whole);
    span = {static_cast<uint32_t>(pool_.size()), true};
    fold(whole, pool_.emplace_back());
  }
  return pool_[span.at];
}

StackId MergedStacks::add(const std::vector<std::string_view>& texts) {
  std::vector<uint32_t> whole;
  for (const std::string_view text : texts) {
    TreeFrame shown;
    std::string_view file, function = text;
    shown.kind = TreeFrameKind::Python;
    parse_python(text, file, shown.line, function);
    shown.name = strings_.intern(function);
    shown.file = strings_.intern(file);
    whole.push_back(row(shown, std::string(function)));
  }
  const auto id = static_cast<StackId>(stacks_.size());
  stacks_.push_back({static_cast<uint32_t>(pool_.size()), true});
  fold(whole, pool_.emplace_back());
  return id;
}

StackId MergedStacks::common(StackId a, StackId b) {
  if (a == StackId{} || b == StackId{}) return {};
  const auto [known, added] =
      common_.try_emplace(uint64_t{static_cast<uint32_t>(a)} << 32 | static_cast<uint32_t>(b), StackId{});
  if (!added) return known->second;
  const std::span<const uint32_t> of_a = of(a), of_b = of(b);
  size_t same = 0;
  while (same < of_a.size() && same < of_b.size() && of_a[of_a.size() - 1 - same] == of_b[of_b.size() - 1 - same])
    ++same;
  std::vector<uint32_t> rows(of_b.end() - static_cast<std::ptrdiff_t>(same), of_b.end());
  if (same < of_a.size() && same < of_b.size()) {
    // The innermost common function may have gone on to another line.
    const uint32_t later = of_b[of_b.size() - 1 - same];
    const TreeFrame &in_a = frame(of_a[of_a.size() - 1 - same]), &in_b = frame(later);
    if (in_a.name == in_b.name && in_a.file == in_b.file && in_a.module == in_b.module && in_a.kind == in_b.kind)
      rows.insert(rows.begin(), later);
  } else if (!rows.empty()) {
    // One stack ends here, so this call had returned: without its native frames inside the innermost
    // Python function.
    const auto python =
        std::find_if(rows.begin(), rows.end(), [&](uint32_t row) { return frame(row).kind == TreeFrameKind::Python; });
    rows.erase(rows.begin(), python == rows.end() ? rows.begin() + 1 : python);
  }
  if (rows.empty()) return {};
  const auto [found, is_new] = common_rows_.try_emplace(rows, StackId{});
  if (is_new) {
    found->second = static_cast<StackId>(stacks_.size());
    stacks_.push_back({static_cast<uint32_t>(pool_.size()), true});
    pool_.push_back(rows);
  }
  return known->second = found->second;
}

bool MergedStacks::has_python(StackId stack) {
  const std::span<const uint32_t> rows = of(stack);
  return std::any_of(rows.begin(), rows.end(),
                     [&](uint32_t row) { return frames_[row].shown.kind == TreeFrameKind::Python; });
}

StackId MergedStacks::with_forward(StackId own, StackId forward, std::string_view backward_operator) {
  const std::span<const uint32_t> outside = of(forward);
  const auto python = std::find_if(outside.begin(), outside.end(), [&](uint32_t row) {
    const TreeFrameKind kind = frames_[row].shown.kind;
    return kind == TreeFrameKind::Python || is_seam(kind);
  });
  ++with_forward_;
  return joined(own, label(fmt::format("forward of {}", backward_operator), TreeFrameKind::Forward),
                python == outside.end() ? outside : outside.subspan(static_cast<size_t>(python - outside.begin())));
}

StackId MergedStacks::with_caller(StackId own, std::span<const uint32_t> caller) {
  ++with_caller_;
  return joined(own, label("run by backward()", TreeFrameKind::Caller), caller);
}

StackId MergedStacks::joined(StackId own, uint32_t seam, std::span<const uint32_t> outside) {
  const std::span<const uint32_t> inside = of(own);
  std::vector<uint32_t> whole(inside.begin(), inside.end());
  whole.push_back(seam);
  whole.insert(whole.end(), outside.begin(), outside.end());
  const auto id = static_cast<StackId>(stacks_.size());
  stacks_.push_back({static_cast<uint32_t>(pool_.size()), true});
  pool_.push_back(std::move(whole));
  return id;
}

std::string MergedStacks::frame_text(uint32_t row) const {
  const TreeFrame& frame = frames_[row].shown;
  const std::string_view file = file_name(strings_[frame.file]);
  if (file.empty()) return std::string(strings_[frame.name]);
  if (frame.line == 0) return fmt::format("{} ({})", strings_[frame.name], file);
  return fmt::format("{} ({}:{})", strings_[frame.name], file, frame.line);
}

size_t MergedStacks::best(StackId stack) {
  const std::span<const uint32_t> rows = of(stack);
  const auto first = [&](auto&& wanted) {
    return std::find_if(rows.begin(), rows.end(), [&](uint32_t row) { return wanted(frames_[row].shown); });
  };
  auto best = first([&](const TreeFrame& frame) { return is_python_source(frame); });
  if (best == rows.end()) best = first([](const TreeFrame& frame) { return frame.kind == TreeFrameKind::Python; });
  if (best == rows.end())
    best = first([&](const TreeFrame& frame) { return frame.line != 0 && !is_of_c_runtime(strings_[frame.module]); });
  if (best == rows.end()) best = first([](const TreeFrame& frame) { return frame.line != 0; });
  if (best == rows.end())
    best = first([&](const TreeFrame& frame) { return !is_of_c_runtime(strings_[frame.module]); });
  return best == rows.end() ? 0 : static_cast<size_t>(best - rows.begin());
}

uint32_t MergedStacks::caller_of_best(StackId stack) {
  const std::span<const uint32_t> rows = of(stack);
  size_t caller = best(stack) + 1;
  if (caller >= rows.size()) return kNone;
  const bool in_python = is_python_source(frames_[rows[caller - 1]].shown);
  while (in_python && caller + 1 < rows.size() && !is_python_source(frames_[rows[caller]].shown) &&
         frames_[rows[caller]].shown.kind == TreeFrameKind::Python)
    ++caller;
  return rows[caller];
}

bool MergedStacks::is_python_source(const TreeFrame& frame) const {
  return frame.kind == TreeFrameKind::Python && !strings_[frame.file].starts_with("<frozen ");
}

std::string MergedStacks::best_text(StackId stack) {
  const std::span<const uint32_t> rows = of(stack);
  if (rows.empty()) return {};
  const size_t best = this->best(stack);
  std::string text = frame_text(rows[best]);
  const auto seam = std::find_if(rows.begin(), rows.end(), [&](uint32_t row) { return is_seam(frame(row).kind); });
  if (seam < rows.begin() + static_cast<ptrdiff_t>(best)) text.append(" ").append(frame_text(*seam));
  return text;
}

std::vector<std::string> MergedStacks::notes() const {
  std::vector<std::string> notes = symbols_.notes(trace_);
  if (incomplete_ != 0)
    notes.push_back(fmt::format("{} stacks are incomplete: deeper than what was recorded, or broken off", incomplete_));
  if (with_forward_ != 0) {
    notes.push_back(
        fmt::format("{} stacks of backward operators go on, outside of [forward of ...], in the stack of the forward "
                    "operator with their sequence number; --no-forward-stacks leaves that out",
                    with_forward_));
  }
  if (with_caller_ != 0) {
    notes.push_back(
        fmt::format("{} stacks of autograd's threads go on, outside of [run by backward()], where backward() was "
                    "called: the one thread "
                    "that was last seen inside it; --no-forward-stacks leaves that out",
                    with_caller_));
  }
  if (guessed_ != 0) {
    notes.push_back(
        fmt::format("{} stacks: the interpreter's frames and the Python frames do not fit each other; where Python "
                    "stands among the rest is a guess",
                    guessed_));
  }
  return notes;
}

}  // namespace prof::analyzer
