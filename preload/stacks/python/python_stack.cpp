// What remains uncertain, by design:
// - A frame is identified by the address of its code object and by its position. Another code object may use the
//   address
// again, so the key holds more of the code object. From 3.12 on that is a unique number. Before, it is the addresses of
// its parts, its first line and its line table; of a table longer than 64 bytes, both ends. If two differ only in the
// middle and use one address one after the other, they are taken for the same.
// - In 3.11 and 3.12, a signal handler that launches while the interpreter enters its evaluation loop may find an
// unfinished chain: tstate->cframe is set two stores before its current_frame. Handlers written in Python run between
// instructions, not there.
// - Up to 3.11 a thread's registered state is the first one that it had, and nothing shows which one runs while the GIL
// is released. While there is more than one interpreter, frames are therefore read only if the registered state holds
// the GIL.
// - If another thread deletes a thread state while this thread is registered with it (PyThreadState_Delete), the
//   pointer
// dangles.
// - 3.14 and newer without the GIL: the table of a code object's copies is replaced when more than 16, 32 … threads run
// the code. If the thread is detached from the interpreter, the old table may be freed between two loads of the walk.
#include "preload/stacks/python/python_stack.h"

#include "preload/base/code_generation.h"
#include "preload/base/loader_call.h"
#include "preload/base/messages.h"
#include "preload/base/options.h"
#include "preload/format/stack_definitions.h"
#include "preload/record/append.h"
#include "preload/record/intern.h"
#include "preload/record/texts.h"
#include "preload/record/thread_local.h"
#include "preload/stacks/python/python_check.h"
#include "preload/stacks/python/python_finder.h"
#include "preload/stacks/python/python_frames.h"
#include "preload/stacks/python/python_layouts.h"
#include "preload/stacks/python/python_lines.h"
#include "preload/stacks/python/python_memo.h"
#include "preload/stacks/python/python_text.h"

#include <pthread.h>

#include <cstring>
#include <iterator>

namespace prof::preload {

std::atomic<PythonWalker> g_python_walker{nullptr};

namespace {

enum class Finding : uint32_t { Off, Open, Found };
std::atomic<Finding> g_finding{Finding::Off};
std::atomic<uint64_t> g_loads_seen{0};
std::atomic<uint32_t> g_checking{0};

// Written before g_python_walker is.
PythonInterpreter g_python;
PythonLayout g_layout;
const char* g_refusal = nullptr;  // the reason why there is no layout
std::atomic<uint64_t> g_generation{
    0};  // of the code when it was found: a dlclose may take an embedded interpreter away

// Maps places in code to ids, with losses: a slot holds 40 bits of a hash and 24 of an id. A new place overwrites it.
constexpr uint32_t kSlots = 1u << 15;
constexpr uint32_t kHidden = (1u << 24) - 1;  // a frame that Python does not show either
constexpr uint32_t kMostSteps = 1024;         // frames passed in one walk, hidden ones too
std::atomic<uint64_t> g_places[kSlots];
std::atomic<bool> g_places_used{false};

uint64_t key_of(const PythonLayout& layout, const PythonFrame& frame) {
  const PythonCodeParts parts = PythonCodeParts::read(layout, frame.code);
  Hash hash;
  hash.add(frame.code).add(frame.position).add(parts.lines).add(parts.lines_size);
  for (const WordPair& pair :
       {parts.file, parts.name, parts.identity, parts.head[0], parts.head[1], parts.tail[0], parts.tail[1]}) {
    hash.add(pair[0]).add(pair[1]);
  }
  return hash.done();
}

bool is_hidden(const PythonLayout& layout, const PythonFrame& frame) {
  constexpr uint8_t kOwnedByGenerator = 1;
  const uint32_t field = layout.code_first_traceable();
  if (field == kNone || frame.owner == kOwnedByGenerator) return false;
  int32_t first = 0;
  std::memcpy(&first, reinterpret_cast<const void*>(frame.code + field), sizeof first);
  return offset_of(layout, frame) < int64_t{first} * 2;
}

// The id of a frame that is met for the first time; its definition is written. Two places on one line of one function
// have one id. 0: no id; the function that refused it counted that.
__attribute__((noinline)) uint32_t define_frame(const PythonLayout& layout, const PythonFrame& frame) {
  if (is_hidden(layout, frame)) return kHidden;
  char room[kMostPythonText];
  const uintptr_t code = frame.code;
  format::PythonFrameDef def;
  def.file = intern_lasting_string(python_text(layout, word_at(code + layout.code_file), room));
  def.function = intern_lasting_string(python_text(layout, word_at(code + layout.code_name), room));
  std::memcpy(&def.first_line, reinterpret_cast<const void*>(code + layout.code_first_line), sizeof def.first_line);
  const uintptr_t lines = word_at(code + layout.code_lines);
  const std::string_view table(reinterpret_cast<const char*>(lines + layout.bytes_data),
                               word_at(lines + layout.bytes_size));
  def.line = python_line(layout.lines, table, def.first_line, offset_of(layout, frame));
  return define_python_place(def);
}

__attribute__((noinline)) uint32_t shared_id_of(const PythonLayout& layout, const PythonFrame& frame) {
  const uint64_t key = key_of(layout, frame);
  std::atomic<uint64_t>& slot = g_places[key % kSlots];
  const uint64_t there = slot.load(std::memory_order_acquire);
  if (((there ^ key) >> 24) == 0 && (there & kHidden) != 0) [[likely]]
    return there & kHidden;
  const uint32_t id = define_frame(layout, frame);
  if (id != 0) slot.store((key & ~uint64_t{kHidden}) | id, std::memory_order_release);
  return id;
}

// The parameters are fields, not a frame, so that the current frame of the walk stays in registers.
__attribute__((noinline)) uint32_t first_id_of(uint64_t code, uint64_t position, uint8_t owner, PythonMemo* memo) {
  const PythonLayout& layout = g_layout;
  PythonFrame frame;
  frame.code = code;
  frame.position = position;
  frame.owner = owner;
  const uint32_t id = shared_id_of(layout, frame);
  if (id != 0 && memo != nullptr) memo->keep(layout, code, position, id);
  return id;
}

// Up to 3.11: whether this thread may be inside another interpreter than that of its registered state. New interpreters
// come first in the list, so the main one is first only if there is no other.
bool may_run_another(uintptr_t registered) {
  const auto runtime = reinterpret_cast<uintptr_t>(g_python.runtime);
  const uintptr_t interpreters = runtime + g_layout.interpreters;
  return word_at(interpreters) != word_at(interpreters + 8) && word_at(runtime + g_layout.current_thread) != registered;
}

// Finds the thread state, if it is this thread's and reliable. False: `flags` shows whether frames are missing.
bool find_thread(uintptr_t& thread, uint32_t& flags) {
  if (g_generation.load(std::memory_order_relaxed) !=
      code_generation()) {  // files went away: is the interpreter still there?
    PythonInterpreter again;
    if (!find_python(again) || again.runtime != g_python.runtime || again.this_thread != g_python.this_thread) {
      g_python_walker.store(nullptr, std::memory_order_release);
      g_finding.store(Finding::Open, std::memory_order_release);
      return false;
    }
    g_generation.store(code_generation(), std::memory_order_relaxed);
  }
  // An interpreter sets `finalizing` long before it frees the states of threads that are still in our hooks.
  if (word_at(reinterpret_cast<uintptr_t>(g_python.runtime) + g_layout.finalizing) != 0) {
    flags |= format::kStackNoPython;
    return false;
  }
  thread = reinterpret_cast<uintptr_t>(g_python.this_thread());
  if (thread != 0 && g_layout.interpreters != kNone && may_run_another(thread)) [[unlikely]] {
    flags |= format::kStackNoPython;
    return false;
  }
  return thread != 0;
}

// Walks the chain from `at` outwards. If `layout` is a constant of the running version, 40 frames take half the time.
template <bool with_memo>
__attribute__((always_inline)) inline void walk_frames(const PythonLayout& layout, uintptr_t at, PythonMemo* memo,
                                                       PythonStack& to) {
  constexpr PlainMemory memory;
  const auto code_type = reinterpret_cast<uintptr_t>(g_python.code_type);
  uint64_t* const frames = to.frames;
  const uint32_t most = to.most;
  uint32_t count = 0;
  bool in_loop = false;  // the last of `frames` belongs to the loop being walked
  uint32_t steps = 0;
  for (; at != 0 && steps < kMostSteps; ++steps) {
    PythonFrame frame;
    read_frame(layout, memory, at, frame);
    at = frame.previous;
    if (frame.code == 0) [[unlikely]] {
      if (in_loop) frames[count - 1] |= format::kPythonEntry;
      in_loop = false;
      continue;
    }
    // A frame may run something other than code (extensions make such frames). It is then no line of Python.
    uint32_t id = kHidden;
    if (word_at(frame.code + layout.object_type) == code_type && leave_copy(layout, memory, frame)) [[likely]] {
      id = with_memo ? memo->find(layout, frame.code, frame.position) : 0;
      if (id == 0) [[unlikely]]
        id = first_id_of(frame.code, frame.position, frame.owner, with_memo ? memo : nullptr);
    }
    if (id - 1 >= kHidden - 1 || count == most) [[unlikely]] {
      if (id == kHidden) {
        if (frame.entry && in_loop) frames[count - 1] |= format::kPythonEntry;
        in_loop &= !frame.entry;
        continue;
      }
      to.flags |= format::kStackPythonCut;
      if (count == most) break;
      continue;
    }
    frames[count++] = format::python_frame_word(id, frame.entry);
    in_loop = !frame.entry;
  }
  to.count = count;
}

// For a thread without a memo, and for a signal handler that interrupted a walk that uses it.
__attribute__((noinline)) void walk_without_memo(uintptr_t at, PythonStack& to) {
  walk_frames<false>(g_layout, at, nullptr, to);
}

__attribute__((always_inline)) inline void walk_with(const PythonLayout& layout, PythonStack& to) {
  uintptr_t thread = 0, at = 0;
  if (!find_thread(thread, to.flags)) return;
  if (word_at(thread + layout.thread_id) != static_cast<uint64_t>(pthread_self())) {
    to.flags |= format::kStackNoPython;
    return;
  }
  top_frame(layout, PlainMemory{}, thread, at);
  PythonMemo* const memo = to.memo;
  if (memo == nullptr || !memo->enter()) return walk_without_memo(at, to);
  walk_frames<true>(layout, at, memo, to);
  memo->leave();
}

void walk_published(PythonStack& to) { walk_with(g_layout, to); }
template <size_t row> void walk_row(PythonStack& to) { walk_with(kPythonLayouts[row], to); }

template <size_t row = 0> PythonWalker walker_of(const PythonLayout& layout) {
  if constexpr (row == std::size(kPythonLayouts)) {
    return walk_published;
  } else {
    return kPythonLayouts[row] == layout ? walk_row<row> : walker_of<row + 1>(layout);
  }
}

// Called by the first stack, inside a scope.
void refuse_python(std::string_view why) {
  static std::atomic<bool> said{false};
  g_python_walker.store(nullptr, std::memory_order_release);
  g_finding.store(Finding::Off, std::memory_order_release);
  say(said, "no Python stacks: Python ", g_python.version, ": ", why);
  define_meta("python", "unknown");
}

// Takes the first stacks, until a thread with frames exists, against which the layout can be checked.
void walk_unchecked(PythonStack& to) {
  if (g_refusal != nullptr) {
    to.flags |= format::kStackNoPython;
    refuse_python(g_refusal);
    return;
  }
  uintptr_t thread = 0;
  if (!find_thread(thread, to.flags)) return;
  // A thread that has a state and runs no Python, like those of embedders, is checked once.
  static std::atomic<uint64_t> without_frames{0};
  const uint64_t state = thread ^ word_at(thread + g_layout.thread_frame);
  if (without_frames.load(std::memory_order_relaxed) == state) return;
  if (g_checking.exchange(1, std::memory_order_acquire) != 0) {
    to.flags |= format::kStackNoPython;  // another thread is checking
    return;
  }
  int& error = thread_errno();
  const int saved = error;
  const Fit fit = check_layout(g_python, g_layout, thread, static_cast<uintptr_t>(pthread_self()));
  error = saved;
  if (fit == Fit::Yes) {
    define_meta("python", g_python.version);
    g_python_walker.store(walker_of(g_layout), std::memory_order_release);
  } else if (fit == Fit::NotYet) {
    without_frames.store(state, std::memory_order_relaxed);
  } else {
    refuse_python("its frames are not where that version has them");
    to.flags |= format::kStackNoPython;
  }
  g_checking.store(0, std::memory_order_release);
  if (fit == Fit::Yes) walk_published(to);
}

void search() {
  if (g_checking.exchange(1, std::memory_order_acquire) != 0) return;
  g_loads_seen.store(loads_so_far(), std::memory_order_relaxed);
  if (g_finding.load(std::memory_order_relaxed) == Finding::Open && find_python(g_python)) {
    g_generation.store(code_generation(), std::memory_order_relaxed);
    g_refusal = choose_layout(g_python, g_layout);
    g_finding.store(Finding::Found, std::memory_order_relaxed);
    g_python_walker.store(walk_unchecked, std::memory_order_release);
  }
  g_checking.store(0, std::memory_order_release);
}

}  // namespace

bool known_python(KnownPython& known) {
  const PythonWalker walker = g_python_walker.load(std::memory_order_acquire);
  if (walker == nullptr || g_refusal != nullptr) return false;
  known = {&g_python, &g_layout, walker != walk_unchecked};
  return true;
}

uint32_t define_python_place(format::PythonFrameDef place) {
  Hash hash;
  hash.add(static_cast<uint64_t>(place.file) << 32 | static_cast<uint64_t>(place.function));
  hash.add(uint64_t{place.line} << 32 | place.first_line);
  const uint32_t id = g_intern.python_frames.intern_lasting(hash.done(), [&](uint32_t fresh) {
    place.id = format::PythonFrameId{fresh};
    return define(place);
  });
  return id < kHidden ? id : 0;
}

void open_python(bool stacks) {
  g_python_walker.store(nullptr, std::memory_order_release);
  g_checking.store(0, std::memory_order_relaxed);
  if (g_places_used.exchange(true)) std::memset(static_cast<void*>(g_places), 0, sizeof g_places);
  const bool wanted = stacks && options().python != option::Python::Off;
  g_finding.store(wanted ? Finding::Open : Finding::Off, std::memory_order_relaxed);
  g_loads_seen.store(0, std::memory_order_relaxed);
  if (wanted && !loader_may_be_locked()) search();  // else the helper searches
}

void look_for_python() {
  if (g_finding.load(std::memory_order_acquire) == Finding::Open &&
      loads_so_far() != g_loads_seen.load(std::memory_order_relaxed)) {
    search();
  }
}

}  // namespace prof::preload
