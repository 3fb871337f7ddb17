// The chain of frames is read from the innermost frame that the interpreter shows now. It belongs to the copy of
// the native stack if
// - the frame that the copy's evaluation loop ran is in the chain (3.11 and 3.12 keep it in a struct on the native
//   stack, others in a register of the loop, which a function that it called may have saved), and
// - the copy has as many evaluation loops as the chain has entries.
// - a register or a word of the copy points into the instructions of that frame's code (the loop keeps the address of
//   the next instruction there). A function that returned and one that was called since may use the same memory for
//   their frames; their code differs.
// If it does not belong to the copy, its outer part may. It begins at the innermost run of the loop
// - whose mark (python_loops.h) is still in the thread's list, inside the copied frame of a loop,
// - which is now at the frame that it was at in the copy,
// - whose part of the copy has a word that points into the instructions of that frame's code,
// - which has started another run now, or that code has been seen to start runs.
// Each loop inside it is one frame kUnknownPythonFrames, so that native and Python frames fit each other.
// Each other loop that the copy has must fit it in the same way, and a chain is read again to see that it holds. Frames
// that were called since are left out.
//
// What remains uncertain: a function may return and be called again between the copy and the reading. Its frame is then
// at the same place, and only its callers in the same run, which the copy does not show, are others: see KnownCaller.
// Up to 3.10, the innermost frame may be the later one, because no mark shows which words of the copy are old.
#include "preload/stacks/python_outside.h"

#include "preload/base/clock.h"
#include "preload/format/stack_definitions.h"
#include "preload/record/texts.h"
#include "preload/stacks/python/outside_memory.h"
#include "preload/stacks/python/python_check.h"
#include "preload/stacks/python/python_finder.h"
#include "preload/stacks/python/python_frames.h"
#include "preload/stacks/python/python_interpreters.h"
#include "preload/stacks/python/python_layouts.h"
#include "preload/stacks/python/python_lines.h"
#include "preload/stacks/python/python_text.h"
#include "preload/stacks/python_loops.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace prof::preload {

namespace {

// Reads frames. The interpreter has a thread's frames one after the other, outer ones at lower addresses. Frames that
// represent a run of the evaluation loop are on the native stack, outer ones at higher addresses. One window has
// several of them, so they are of nearly the same moment.
class FrameMemory {
 public:
  explicit FrameMemory(const StackCopy& stack) : stack_{stack.low, stack.bytes} {}
  template <class T> bool read(uintptr_t at, T& to) const {
    const bool on_stack = at - stack_.at < stack_.size;
    Window& window = on_stack ? entries_ : frames_;
    if (!window.holds(at, sizeof to)) {
      constexpr size_t kInner = 256, kOuter = sizeof g_windows[0] - kInner;
      uint8_t* const bytes = g_windows[on_stack];
      window.at = !on_stack && at > kOuter ? at - kOuter : at;
      window.size = read_outside(window.at, bytes, sizeof g_windows[0]);
      if (!window.holds(at, sizeof to)) window = {at, at < 4096 ? 0 : read_outside(at, bytes, kInner)};
      if (!window.holds(at, sizeof to)) {
        window = {};
        return false;
      }
    }
    std::memcpy(&to, g_windows[on_stack] + (at - window.at), sizeof to);
    return true;
  }

 private:
  struct Window {
    uintptr_t at = 0;
    size_t size = 0;
    bool holds(uintptr_t from, size_t bytes) const {
      return from >= at && from - at <= size && size - (from - at) >= bytes;
    }
  };
  static uint8_t g_windows[2][8192];  // the holder of the sampler's lock uses it
  Window stack_;
  mutable Window frames_, entries_;
};
uint8_t FrameMemory::g_windows[2][8192];

constexpr uint32_t kMostChain = 512;
constexpr uint64_t kNoPosition = ~0ull >> 1;
constexpr size_t kMostLines = 64 << 10;  // bytes of a line table

struct Chain {
  uintptr_t at[kMostChain] = {};
  PythonFrame frame[kMostChain];
  uint64_t shown[kMostChain] = {};  // position in the code to write; kNoPosition: the copy was at another one
  uint32_t count = 0;
  bool whole = false;
};

// A place in code that was seen before. The words of the code object distinguish it from one that had its address.
struct KnownPlace {
  uint64_t code, position, lines, name, identity;
  uint32_t id;
};
constexpr uint32_t kPlaces = 4096;

// The caller of a function in the same run of the loop, as chains showed it, and the position of the call.
struct KnownCaller {
  uint64_t code, caller, position;        // caller 0: the run began with the function
  uint32_t seen, seen_at_position;        // since the last change
  uint32_t changes, changes_of_position;  // so far
  bool starts_runs;                       // through code that is not Python
};
constexpr uint32_t kCallers = 2048;

// A thread's state, found in the interpreter's list.
struct KnownState {
  uint64_t handle;
  uintptr_t state;
  uint64_t missed_ns;  // when the list did not contain it
};
constexpr uint32_t kStates = 64;

constexpr uint32_t kHidden = ~0u;

// Only one thread at a time uses these: the holder of the sampler's lock.
KnownPlace g_known_places[kPlaces];
KnownCaller g_callers[kCallers];
KnownState g_states[kStates];
uint8_t g_lines[kMostLines];
constinit Chain g_chain;
constinit CopiedLoops g_loops;  // of the copy
constinit RunsOfLoop g_runs, g_runs_again;
bool g_checked = false;
uint32_t g_failed_checks = 0;

constexpr uint32_t kNextThread = 8, kThreadInterpreter = 16;
constexpr uint32_t kMostThreadStates = 2000;

uintptr_t first_thread_of(const PythonInterpreter& python, const OutsideMemory& memory, uintptr_t interpreter) {
  if (python.minor >= kFirstPublished) {
    uint64_t offset = 0;
    uintptr_t first = 0;
    constexpr uint32_t kThreadsHead = 9 * 8;  // the published words: 3 + 3 before those of an interpreter
    return memory.read(reinterpret_cast<uintptr_t>(python.runtime) + kThreadsHead, offset) && offset < (1u << 20) &&
                   memory.read(interpreter + offset, first)
               ? first
               : 0;
  }
  // Older versions: among the first words of the interpreter, the one that leads to a thread state of it.
  for (uint32_t word = 1; word < 48; ++word) {
    uintptr_t candidate = 0, back = 0;
    if (!memory.read(interpreter + word * 8, candidate)) return 0;
    if (candidate % 8 == 0 && candidate > 4096 && OutsideMemory().read(candidate + kThreadInterpreter, back) &&
        back == interpreter)
      return candidate;
  }
  return 0;
}

// The first state whose thread, by its pthread_self(), is the wanted one.
template <class IsWanted>
uintptr_t state_in(const KnownPython& known, uintptr_t interpreter, const IsWanted& is_wanted) {
  const OutsideMemory memory{};
  uintptr_t at = first_thread_of(*known.python, memory, interpreter);
  for (uint32_t i = 0; at != 0 && i < kMostThreadStates; ++i) {
    uint64_t owner = 0;
    uintptr_t next = 0;
    if (!memory.read(at + known.layout->thread_id, owner)) return 0;
    if (is_wanted(owner)) return at;
    if (!memory.read(at + kNextThread, next)) return 0;
    at = next;
  }
  return 0;
}

template <class IsWanted> uintptr_t search_state(const KnownPython& known, const IsWanted& is_wanted) {
  uintptr_t found = 0;
  each_interpreter(known, [&](uintptr_t interpreter) {
    found = state_in(known, interpreter, is_wanted);
    return found == 0;
  });
  return found;
}

uintptr_t state_of(const KnownPython& known, uint64_t handle) {
  constexpr uint64_t kSearchAgain = 50'000'000;
  KnownState& cached = g_states[(handle >> 12) % kStates];
  uint64_t owner = 0;
  if (cached.handle == handle) {
    if (cached.state != 0 && OutsideMemory().read(cached.state + known.layout->thread_id, owner) && owner == handle)
      return cached.state;
    if (cached.state == 0 && monotonic_ns() < cached.missed_ns + kSearchAgain) return 0;
  }
  cached = {handle, search_state(known, [handle](uint64_t each) { return each == handle; }), monotonic_ns()};
  return cached.state;
}

bool is_checked(const KnownPython& known, uintptr_t state, uint64_t handle) {
  constexpr uint32_t kMostFailures = 200;  // a running thread changes its frames while they are checked
  if (known.checked || g_checked) return true;
  if (g_failed_checks >= kMostFailures) return false;
  const Fit fit = check_layout(*known.python, *known.layout, state, handle);
  g_checked = fit == Fit::Yes;
  g_failed_checks += fit == Fit::No;
  return g_checked;
}

void read_chain(const PythonLayout& layout, const StackCopy& copy, uintptr_t at) {
  const FrameMemory memory(copy);
  g_chain.count = 0;
  g_chain.whole = false;
  while (at != 0 && g_chain.count < kMostChain) {
    PythonFrame frame;
    if (at % 8 != 0 || !read_frame(layout, memory, at, frame) || frame.owner > kOwnedByLoop + 1) return;
    if (is_base_frame(layout, frame)) {
      at = 0;
      break;
    }
    g_chain.at[g_chain.count] = at;
    g_chain.frame[g_chain.count++] = frame;
    at = frame.previous;
  }
  const OutsideMemory outside{};
  for (uint32_t i = 0; i < g_chain.count; ++i) {
    PythonFrame frame = g_chain.frame[i];
    if (frame.code != 0 && !leave_copy(layout, outside, frame)) return;
    g_chain.shown[i] = frame.position;
  }
  g_chain.whole = at == 0;
}

// Whether a frame of the chain is reached from `inner` now, and is linked as it was read from there outwards. A frame
// that was left keeps its links for a while, and they may lead to frames that were called since.
bool chain_holds(const PythonLayout& layout, const StackCopy& copy, uintptr_t inner, uint32_t first) {
  const FrameMemory memory(copy);
  for (uint32_t i = 0; inner != g_chain.at[first]; ++i) {
    PythonFrame now;
    if (inner == 0 || i == kMostChain || !read_frame(layout, memory, inner, now)) return false;
    inner = now.previous;
  }
  for (uint32_t i = first; i < g_chain.count; ++i) {
    PythonFrame now;
    if (!read_frame(layout, memory, g_chain.at[i], now) || now.code != g_chain.frame[i].code ||
        now.previous != g_chain.frame[i].previous || now.owner != g_chain.frame[i].owner ||
        (i != first && now.position != g_chain.frame[i].position))
      return false;
  }
  return true;
}

uint32_t index_in_chain(uintptr_t frame) {
  for (uint32_t i = 0; i < g_chain.count; ++i) {
    if (g_chain.at[i] == frame) return i;
  }
  return kNone;
}

// The lowest index among the frames of the chain whose addresses were added.
class FoundInChain {
 public:
  FoundInChain() : ends_(std::minmax_element(g_chain.at, g_chain.at + g_chain.count)) {}
  void add(uint64_t word) {
    if (word % 8 == 0 && word >= *ends_.first && word <= *ends_.second) index = std::min(index, index_in_chain(word));
  }
  void add_words(const StackCopy& copy, uint64_t from, uint64_t end) {
    uint64_t word = 0;
    for (uint64_t at = from; at < end && index != 0; at += 8) {
      if (copy.read(at, word)) add(word);
    }
  }
  uint32_t index = kNone;

 private:
  std::pair<const uintptr_t*, const uintptr_t*> ends_;
};

// In a build that has a function for each instruction of Python (3.14 and newer, clang), the loop only makes the entry
// and calls the first of them. They call each other in the same native frame.
bool has_instruction_functions(const PythonInterpreter& python) {
  return python.minor >= 14 && python.loop_bytes != 0 && python.loop_bytes < 4096;
}

// The index of the frame that the copied loop ran; kNone: it is not in the chain. `loop`: the address of its struct.
uint32_t frame_of_copy(const KnownPython& known, const OutsideMemory& memory, uintptr_t state, const StackCopy& copy,
                       const CopiedStack& native, const uint64_t* registers, uint32_t register_count, uintptr_t& loop) {
  const PythonLayout& layout = *known.layout;
  if (layout.cframe != kNone) {
    // The innermost struct of a loop that was there when the copy was made.
    uintptr_t at = 0;
    if (!memory.read(state + layout.thread_frame, at)) return kNone;
    for (uint32_t i = 0; at != 0 && at < copy.low && i < kMostChain; ++i) {
      if (!memory.read(at + layout.cframe + 8, at)) return kNone;  // its previous one
    }
    uint64_t frame = 0;
    loop = at;
    return copy.read(at + layout.cframe, frame) ? index_in_chain(frame) : kNone;
  }
  // The frames of a thread that is blocked do not change. The caller drops the sample if the thread ran meanwhile.
  if (registers == nullptr && layout.has_entry_frames()) return 0;
  FoundInChain found, in_loop;
  for (uint32_t i = 0; i < register_count; ++i) found.add(registers[i]);
  if (!g_loops.bounded || g_loops.count == 0) {
    found.add_words(copy, copy.low, copy.low + copy.bytes);
    return found.index;
  }
  // Words elsewhere may be old, and other loops keep other frames.
  const CopiedLoop& inner = g_loops.at[0];
  in_loop.add_words(copy, inner.begin, inner.end);
  if (layout.runs_are_frames()) {
    found.add_words(copy, std::max(copy.low, inner.begin - kSavedByCallee), inner.begin);
    return std::min(found.index, in_loop.index);
  }
  // The loop keeps the frame in a register, which any of the functions that it called may have saved. Its native frame
  // has those of callers too.
  each_saved_word(copy, native, inner.begin, [&](uint64_t word) { found.add(word); });
  if (found.index == kNone && has_instruction_functions(*known.python))
    return frame_of_instruction(copy, native, inner.begin, g_chain.at, g_chain.frame, g_chain.count);
  return found.index != kNone ? found.index : in_loop.index;
}

struct InstructionRange {
  uint64_t first = 0, end = 0;
  // Whether it is the address of an instruction after the first one.
  bool has_next(uint64_t word) const { return word > first && word <= end && word % 2 == 0; }
};

// Those that the frame runs.
bool instructions_of(const PythonLayout& layout, const OutsideMemory& memory, const PythonFrame& frame,
                     InstructionRange& to) {
  const uintptr_t code = frame.code;
  uint64_t units = 0;  // the object's number of 2-byte instructions, at the place of the number of bytes
  uintptr_t first = 0;
  if (layout.code_start == kNone) {
    // An object of its own: the word that distinguishes code objects (python_layouts.def).
    uintptr_t bytes = 0;
    if (!memory.read(code + layout.code_identity, bytes) || !memory.read(bytes + layout.bytes_size, units) ||
        units > (1u << 25))
      return false;
    to = {bytes + layout.bytes_data, bytes + layout.bytes_data + units};
    return true;
  }
  if (!memory.read(code + layout.bytes_size, units) || units > (1u << 24) ||
      !first_instruction(layout, memory, frame, first))
    return false;
  to = {first, first + units * 2};
  return true;
}

// The position of an instruction in the unit of frames.
uint64_t position_at(const PythonLayout& layout, const PythonFrame& frame, uint64_t address, uint64_t first) {
  switch (layout.position) {
    case Position::Bytes: return address - first;
    case Position::Units: return (address - first) / 2;
    case Position::Pointer: break;
  }
  return frame.code + layout.code_start + (address - first);
}

// Whether the copied loop ran the code of that frame of the chain: the address of its next instruction is in a
// register, or on the stack of a function that the loop called. A single such address in the registers becomes the
// frame's position, because the one in the frame may be a later one.
bool runs_code(const PythonLayout& layout, const OutsideMemory& memory, const StackCopy& copy,
               const uint64_t* registers, uint32_t register_count, uint32_t index) {
  InstructionRange code;
  if (!instructions_of(layout, memory, g_chain.frame[index], code)) return false;
  uint64_t next = 0;
  uint32_t found = 0;
  for (uint32_t i = 0; i < register_count; ++i) {
    if (!code.has_next(registers[i]) || registers[i] == next) continue;
    next = registers[i];
    ++found;
  }
  if (found == 1) g_chain.shown[index] = position_at(layout, g_chain.frame[index], next - 2, code.first);
  const uint64_t end = g_loops.bounded && g_loops.count != 0 ? g_loops.at[0].end : copy.low + copy.bytes;
  for (uint64_t at = copy.low; at + 8 <= end && found == 0; at += 8) {
    uint64_t word = 0;
    found += copy.read(at, word) && code.has_next(word);
  }
  return found != 0;
}

// A copy of a text object, as UTF-8. Empty: not readable.
std::string_view text_of(const PythonLayout& layout, const OutsideMemory& memory, uintptr_t object, char* room) {
  alignas(8) static uint8_t copy[4096];
  uint32_t state = 0;
  uint64_t size = 0;
  if (!memory.read(object + layout.text_state, state) || !memory.read(object + layout.text_size, size)) return {};
  const uint32_t bits = state >> layout.text_kind;
  const bool ascii = (bits >> 4 & 1) != 0;
  const uint64_t bytes = (ascii ? layout.text_ascii : layout.text_other) + size * (bits & 7);
  if (size > sizeof copy || bytes > sizeof copy || !memory.bytes(object, copy, bytes)) return {};
  // The object may have become another one since.
  if (std::memcmp(copy + layout.text_state, &state, sizeof state) != 0 ||
      std::memcmp(copy + layout.text_size, &size, sizeof size) != 0)
    return {};
  return python_text(layout, reinterpret_cast<uintptr_t>(copy), room);
}

// kHidden: Python does not show this frame either. 0: no id.
uint32_t define_place(const PythonInterpreter& python, const PythonLayout& layout, const OutsideMemory& memory,
                      const PythonFrame& frame, const KnownPlace& words) {
  constexpr uint8_t kOwnedByGenerator = 1;
  const uintptr_t code = frame.code;
  uintptr_t type = 0, file = 0;
  if (!memory.read(code + layout.object_type, type) || !memory.read(code + layout.code_file, file)) return 0;
  if (type != reinterpret_cast<uintptr_t>(python.code_type)) return kHidden;
  const uint32_t traceable = layout.code_first_traceable();
  int32_t first = 0;
  const bool has_position = frame.position != kNoPosition;
  if (traceable != kNone && frame.owner != kOwnedByGenerator && has_position) {
    if (!memory.read(code + traceable, first)) return 0;
    if (offset_of(layout, frame) < int64_t{first} * 2) return kHidden;
  }
  char room[kMostPythonText];
  format::PythonFrameDef def;
  if (!memory.read(code + layout.code_first_line, def.first_line)) return 0;
  uint64_t lines = 0;
  if (!memory.read(words.lines + layout.bytes_size, lines)) return 0;
  const std::string_view file_text = text_of(layout, memory, file, room);
  if (file_text.empty()) return 0;
  def.file = intern_lasting_string(file_text);
  const std::string_view name_text = text_of(layout, memory, words.name, room);
  if (name_text.empty()) return 0;
  def.function = intern_lasting_string(name_text);
  if (has_position && lines <= sizeof g_lines && memory.bytes(words.lines + layout.bytes_data, g_lines, lines)) {
    def.line = python_line(layout.lines, {reinterpret_cast<const char*>(g_lines), lines}, def.first_line,
                           offset_of(layout, frame));
  }
  return define_python_place(def);
}

uint32_t place_of(const PythonInterpreter& python, const PythonLayout& layout, const OutsideMemory& memory,
                  const PythonFrame& frame) {
  KnownPlace words{frame.code, frame.position, 0, 0, 0, 0};
  if (!memory.read(frame.code + layout.code_lines, words.lines) ||
      !memory.read(frame.code + layout.code_name, words.name) ||
      !memory.read(frame.code + layout.code_identity, words.identity))
    return 0;
  KnownPlace& slot = g_known_places[((frame.code ^ frame.position << 20) * 0x9e3779b97f4a7c15) >> 52];
  static_assert(kPlaces == 1u << 12);
  if (slot.id != 0 && slot.code == words.code && slot.position == words.position && slot.lines == words.lines &&
      slot.name == words.name && slot.identity == words.identity)
    return slot.id;
  words.id = define_place(python, layout, memory, frame, words);
  if (words.id != 0) slot = words;
  return words.id;
}

// The copy has the frame that each run of the loop was at. The callers of that frame in the same run are known only
// from the chain, which may have got others since. They are written if the function has had the same caller in the last
// chains: in 16, or in four times as many after each other caller, up to three.
uint64_t caller_of(uint32_t index) {
  const bool begins = g_chain.frame[index].entry || index + 1 == g_chain.count;
  return begins ? 0 : g_chain.frame[index + 1].code;
}

KnownCaller& known_caller(uint64_t code) {
  static_assert(kCallers == 1u << 11);
  return g_callers[(code >> 4) * 0x9e3779b97f4a7c15 >> 53];
}

bool is_enough(uint32_t seen, uint32_t changes) {
  constexpr uint32_t kEnough = 16, kMostChanges = 3;
  return changes <= kMostChanges && seen >= kEnough << 2 * changes;
}

bool has_one_caller(uint32_t index) {
  const KnownCaller& known = known_caller(g_chain.frame[index].code);
  if (known.code != g_chain.frame[index].code || known.caller != caller_of(index) ||
      !is_enough(known.seen, known.changes))
    return false;
  if (known.caller != 0 && !is_enough(known.seen_at_position, known.changes_of_position))
    g_chain.shown[index + 1] = kNoPosition;
  return true;
}

// Whether the first frame of the chain can be what a copied loop was at when it started another run. A function that
// was called since may have its memory, and the copy may have an address of its code that was stored long before.
bool starts_runs(bool suspended) {
  const KnownCaller& known = known_caller(g_chain.frame[0].code);
  return suspended || (known.code == g_chain.frame[0].code && known.starts_runs);
}

// Learns from a chain that was valid when it was read. `suspended`: its first frame had started another run.
void learn_callers(uint32_t first, bool suspended) {
  for (uint32_t i = first; i < g_chain.count; ++i) {
    const uint64_t code = g_chain.frame[i].code, caller = caller_of(i);
    if (code == 0) continue;
    const uint64_t position = caller != 0 ? g_chain.shown[i + 1] : 0;
    KnownCaller& known = known_caller(code);
    if (known.code != code) known = {code, caller, position, 0, 0, 0, 0, false};
    known.starts_runs |= i == first ? suspended : (g_chain.frame[i - 1].code == 0 || g_chain.frame[i - 1].entry);
    if (known.caller != caller) {
      known.caller = caller;
      known.seen = 0;
      ++known.changes;
    }
    if (known.position != position) {
      known.position = position;
      known.seen_at_position = 0;
      ++known.changes_of_position;
    }
    ++known.seen;
    ++known.seen_at_position;
  }
}

// Writes the frames from that one of the chain outwards. Returns the number of entries; kNone: one cannot be read.
// `unknown`: the frame that represents callers that are not known; 0: they are those of the chain.
uint32_t write_frames(const KnownPython& known, const OutsideMemory& memory, uint32_t first, uint32_t unknown,
                      PythonStack& to) {
  uint32_t entries = 0;
  bool in_loop = false, shows = true;  // shows: the frame is not a caller that is not known
  const auto add = [&](uint32_t id) {
    if (to.count == to.most)
      to.flags |= format::kStackPythonCut;
    else
      to.frames[to.count++] = format::python_frame_word(id, false);
    in_loop = true;
    return (to.flags & format::kStackPythonCut) == 0;
  };
  const auto end_loop = [&] {
    if (in_loop) to.frames[to.count - 1] |= format::kPythonEntry;
    in_loop = false;
    shows = true;
    ++entries;
  };
  for (uint32_t i = first; i < g_chain.count; ++i) {
    if (g_chain.frame[i].code == 0) {
      end_loop();
      continue;
    }
    if (shows) {
      PythonFrame frame = g_chain.frame[i];
      shows = unknown == 0 || known.layout->runs_are_frames() || has_one_caller(i);
      frame.position = g_chain.shown[i];
      const uint32_t id = place_of(*known.python, *known.layout, memory, frame);
      if (id == 0) return kNone;
      if (id != kHidden && !add(id)) return entries;
      if (!shows && !add(unknown)) return entries;
    }
    if (g_chain.frame[i].entry) end_loop();
  }
  return entries;
}

// Whether the copy's part of that loop has the address of an instruction of the code of that frame of the chain. The
// frame may have left its position since, so the one to write is that of the copy: if the addresses are those of one
// instruction and the next.
bool ran_there(const PythonLayout& layout, const StackCopy& copy, uint32_t loop, uint32_t index) {
  const uint64_t low = g_loops.at[loop].low, high = g_loops.at[loop].end;
  InstructionRange code;
  if (low < copy.low || high <= low || high - copy.low > copy.bytes ||
      !instructions_of(layout, OutsideMemory(), g_chain.frame[index], code))
    return false;
  uint64_t first = ~0ull, last = 0;
  for (uint64_t at = low; at + 8 <= high; at += 8) {
    uint64_t word = 0;
    if (!copy.read(at, word) || !code.has_next(word)) continue;
    first = std::min(first, word);
    last = std::max(last, word);
  }
  if (last == 0) return false;
  g_chain.shown[index] = last - first <= kLongestInstruction
                             ? position_at(layout, g_chain.frame[index], last - 2, code.first)
                             : kNoPosition;
  return true;
}

// outer_loops_fit() for 3.13 and newer.
bool outer_entries_fit(const PythonLayout& layout, const StackCopy& copy, bool ends_early, uint32_t first,
                       uint32_t loop) {
  for (uint32_t i = first; i < g_chain.count; ++i) {
    if (g_chain.frame[i].code != 0) continue;
    if (loop == g_loops.count) return ends_early;
    PythonFrame entry;
    if (loop_at(g_loops, g_chain.at[i]) != loop || !copied_entry(layout, copy, g_chain.at[i], entry) ||
        entry.previous != g_chain.frame[i].previous)
      return false;
    ++loop;
    if (i + 1 == g_chain.count || g_chain.frame[i + 1].code == 0) return loop == g_loops.count;
    if (loop == g_loops.count) return ends_early;
    if (!ran_there(layout, copy, loop, i + 1)) return false;
  }
  return true;
}

// The same for 3.11 and 3.12. `at`: the struct of the loop that ran the first frame.
bool outer_structs_fit(const PythonLayout& layout, const StackCopy& copy, bool ends_early, uint32_t first,
                       uint32_t loop, uintptr_t at) {
  for (uint32_t i = first; i + 1 < g_chain.count; ++i) {
    if (g_chain.frame[i].code != 0 && !g_chain.frame[i].entry) continue;
    uint64_t frame = 0, outer = 0;
    if (!copy.read(at + layout.cframe + 8, outer)) return ends_early;
    // The outermost struct is not on the stack.
    if (loop_at(g_loops, outer) == kNone) return ends_early || loop + 1 == g_loops.count;
    // All structs have the same place in their frames. Elsewhere may be one of an earlier run.
    const uint64_t from_end = g_loops.at[loop].end - at;
    if (loop_at(g_loops, outer) != ++loop || g_loops.at[loop].end - outer != from_end) return false;
    at = outer;
    if (!copy.read(at + layout.cframe, frame) || frame != g_chain.at[i + 1] || g_chain.frame[i + 1].code == 0 ||
        !ran_there(layout, copy, loop, i + 1))
      return false;
  }
  return true;
}

// The same up to 3.10.
bool outer_frames_fit(const PythonLayout& layout, const StackCopy& copy, bool ends_early, uint32_t first,
                      uint32_t loop) {
  for (uint32_t i = first + 1; i < g_chain.count; ++i) {
    if (++loop == g_loops.count) return ends_early;
    if (frame_of_loop(layout, copy, g_loops, loop, g_chain.at[i]) == 0 || !ran_there(layout, copy, loop, i))
      return false;
  }
  return true;
}

bool ends_early(const CopiedStack& native) {
  return (native.flags & (format::kStackNativeCut | format::kStackBroken)) != 0;
}

// Whether the copy shows each loop outside of that one at the frame that the chain has for it, running that frame's
// code. The copy is of one moment. The chain was read while the thread ran. `loop`: the index of the loop that ran the
// first frame; `mark`: that of its run, for 3.11 and 3.12.
bool outer_loops_fit(const PythonLayout& layout, const StackCopy& copy, const CopiedStack& native, uint32_t first,
                     uint32_t loop, uintptr_t mark) {
  const bool early = ends_early(native);
  // Code without unwind tables called Python. Then only the rest of the conditions is checked.
  if (!g_loops.bounded) return early || layout.cframe == kNone;
  if (layout.has_entry_frames()) return outer_entries_fit(layout, copy, early, first, loop);
  if (layout.runs_are_frames()) return outer_frames_fit(layout, copy, early, first, loop);
  return outer_structs_fit(layout, copy, early, first, loop, mark);
}

// What the thread's loops are at now, up to that run; 0: all. It may go on while they are read, and then the walk may
// end anywhere. So there are some attempts to find the outermost copied run.
bool read_runs_now(const PythonLayout& layout, uintptr_t state, const StackCopy& copy, uintptr_t until,
                   RunsOfLoop& to) {
  constexpr int kAttempts = 32;
  for (int i = 0; i < kAttempts; ++i) {
    if (layout.cframe == kNone) {
      uintptr_t top = 0;
      if (!top_frame(layout, OutsideMemory(), state, top)) return false;
      if (!read_runs(layout, FrameMemory(copy), top, until, to)) continue;
    } else {
      uintptr_t innermost = 0;
      if (!OutsideMemory().read(state + layout.thread_frame, innermost)) return false;
      if (!read_structs(layout, OutsideMemory(), innermost, until, to)) continue;
    }
    const auto is_outermost = [](uint64_t mark) { return loop_at(g_loops, mark) + 1 == g_loops.count; };
    if (until != 0 || std::any_of(to.mark, to.mark + to.count, is_outermost)) return true;
    if (layout.runs_are_frames() && to.count != 0 && g_loops.count != 0 &&
        frame_of_loop(layout, copy, g_loops, g_loops.count - 1, to.mark[to.count - 1]) != 0)
      return true;
  }
  return false;
}

// Writes the frames from that run of g_runs outwards. Its index among the copied loops is `loop`. False: not proven.
bool write_from_run(const KnownPython& known, uintptr_t state, uint32_t index, const StackCopy& copy,
                    const CopiedStack& native, uint32_t loop, uint32_t unknown, PythonStack& to) {
  const PythonLayout& layout = *known.layout;
  const uint64_t mark = g_runs.mark[index], frame = g_runs.frame[index];
  if (frame == 0 || frame_of_loop(layout, copy, g_loops, loop, mark) != frame) return false;
  read_chain(layout, copy, frame);
  if (!g_chain.whole || g_chain.frame[0].code == 0 || !starts_runs(index != 0) || !ran_there(layout, copy, loop, 0) ||
      !outer_loops_fit(layout, copy, native, 0, loop, mark))
    return false;
  const uint32_t entries = write_frames(known, OutsideMemory(), 0, unknown, to);
  const bool counted = !ends_early(native) && (to.flags & format::kStackPythonCut) == 0;
  if (entries == kNone || (counted && entries != g_loops.count - loop)) return false;
  return chain_holds(layout, copy, frame, 0) && read_runs_now(layout, state, copy, mark, g_runs_again) &&
         g_runs_again.frame[g_runs_again.count - 1] == frame;
}

// Writes the outer frames that the copy proves. False: there are none.
bool write_outer_frames(const KnownPython& known, uintptr_t state, const StackCopy& copy, const CopiedStack& native,
                        PythonStack& to) {
  const PythonLayout& layout = *known.layout;
  if (!g_loops.bounded || !read_runs_now(layout, state, copy, 0, g_runs)) return false;
  format::PythonFrameDef unknown;
  unknown.function = intern_lasting_string(format::kUnknownPythonFrames);
  const uint32_t unknown_id = define_python_place(unknown);
  if (unknown_id == 0) return false;
  for (uint32_t inner = 1; inner < g_loops.count && inner < to.most; ++inner) {
    for (uint32_t k = 0; k < g_runs.count; ++k) {
      // Up to 3.10, the marks are not on the stack, and the runs are counted from the outermost one.
      const uint32_t loop =
          layout.runs_are_frames() ? k + g_loops.count - g_runs.count : loop_at(g_loops, g_runs.mark[k]);
      if (loop != inner) continue;
      to.count = 0;
      to.flags = format::kStackPythonInner;
      while (to.count < inner) to.frames[to.count++] = format::python_frame_word(unknown_id, true);
      if (write_from_run(known, state, k, copy, native, inner, unknown_id, to)) {
        learn_callers(0, k != 0);
        return true;
      }
    }
  }
  return false;
}

// The frames of the copy, all or none.
PythonLook read_all_frames(const KnownPython& known, uintptr_t state, uintptr_t top, const StackCopy& copy,
                           const CopiedStack& native, const uint64_t* registers, uint32_t register_count,
                           PythonStack& to) {
  const PythonLayout& layout = *known.layout;
  const OutsideMemory memory{};
  if (top == 0) return g_loops.count == 0 ? PythonLook::None : PythonLook::Moved;
  // Where the innermost run ends is not known, and a thread that runs may have left its frames since.
  if (registers != nullptr && !g_loops.bounded && ends_early(native)) return PythonLook::Moved;
  read_chain(layout, copy, top);
  if (!g_chain.whole) return PythonLook::Moved;
  if (g_chain.count == 0) return g_loops.count == 0 ? PythonLook::None : PythonLook::Moved;
  uintptr_t loop = 0;
  const uint32_t first = frame_of_copy(known, memory, state, copy, native, registers, register_count, loop);
  // A copied loop whose frames have returned since has only its entry in the chain.
  if (first == kNone || g_chain.frame[first].code == 0) return PythonLook::Moved;
  if (registers != nullptr && !runs_code(layout, memory, copy, registers, register_count, first))
    return PythonLook::Moved;
  // Another struct may have been in the same place of the stack before.
  if (layout.cframe != kNone && g_loops.bounded && loop_at(g_loops, loop) != 0) return PythonLook::Moved;
  if (known.python->loop_bytes != 0 && !outer_loops_fit(layout, copy, native, first, 0, loop)) return PythonLook::Moved;
  const uint32_t entries = write_frames(known, memory, first, 0, to);
  if (entries == kNone) return PythonLook::Moved;
  // Twice: a program that repeats itself may be in the same wrong moments at two readings.
  for (int reading = 0; reading < 2; ++reading) {
    uintptr_t inner = 0;
    if (!top_frame(layout, OutsideMemory(), state, inner) || !chain_holds(layout, copy, inner, first))
      return PythonLook::Moved;
  }
  const bool counted =
      !ends_early(native) && (to.flags & format::kStackPythonCut) == 0 && known.python->loop_bytes != 0;
  if (counted && g_loops.count != entries) return PythonLook::Moved;
  learn_callers(first, false);
  return PythonLook::Found;
}

}  // namespace

PythonLook read_python_outside(uint64_t handle, const StackCopy& copy, const CopiedStack& native,
                               const uint64_t* registers, uint32_t register_count, PythonStack& to) {
  KnownPython known;
  if (!known_python(known)) return PythonLook::None;
  const PythonLayout& layout = *known.layout;
  const OutsideMemory memory{};
  uintptr_t finalizing = 1, top = 0;
  if (!memory.read(reinterpret_cast<uintptr_t>(known.python->runtime) + layout.finalizing, finalizing) ||
      finalizing != 0)
    return PythonLook::None;
  const uintptr_t state = state_of(known, handle);
  if (state == 0 || !is_checked(known, state, handle)) return PythonLook::None;
  if (!top_frame(layout, memory, state, top)) return PythonLook::None;
  find_loops(known.python->loop, known.python->loop_bytes, copy, native, g_loops);
  const PythonLook all = read_all_frames(known, state, top, copy, native, registers, register_count, to);
  return all == PythonLook::Moved && write_outer_frames(known, state, copy, native, to) ? PythonLook::Outer : all;
}

uint64_t python_thread_with(uint32_t tid, uint32_t (*tid_of)(uint64_t handle)) {
  KnownPython known;
  if (!known_python(known)) return 0;
  uint64_t handle = 0;
  const uintptr_t state = search_state(known, [&](uint64_t each) {
    handle = each;
    return tid_of(each) == tid;
  });
  return state != 0 ? handle : 0;
}

void forget_python_outside() {
  std::memset(static_cast<void*>(g_known_places), 0, sizeof g_known_places);
  std::memset(static_cast<void*>(g_callers), 0, sizeof g_callers);
  std::memset(static_cast<void*>(g_states), 0, sizeof g_states);
  g_checked = false;
  g_failed_checks = 0;
}

}  // namespace prof::preload
