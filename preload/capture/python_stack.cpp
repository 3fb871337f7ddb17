// What remains uncertain, by design:
// - A frame is known by its code object's address and position; an address may be used again by another code object. The key
//   holds more of the code object: from 3.12 on a number that no other has, before that the addresses of its parts, its first
//   line and its line table, of a table longer than 64 bytes both ends. Two that differ in the middle alone, one after the other at
//   one place in memory, are taken for one.
// - A signal handler that launches while the interpreter enters its evaluation loop may find, in 3.11 and 3.12, a chain that is
//   being linked (tstate->cframe is set two stores before its current_frame). Handlers written in Python run between
//   instructions, not there.
// - Up to 3.11 a thread's state is the one it had first: inside a subinterpreter the frames of the outer one are found.
// - A thread state that another thread deletes while this thread is registered with it (PyThreadState_Delete) dangles.
#include "preload/capture/python_stack.h"

#include "preload/capture/code_images.h"
#include "preload/capture/python_check.h"
#include "preload/capture/python_finder.h"
#include "preload/capture/python_frames.h"
#include "preload/capture/python_layouts.h"
#include "preload/capture/python_lines.h"
#include "preload/capture/python_text.h"
#include "preload/capture/stacks.h"
#include "preload/format/definitions.h"
#include "preload/log/intern.h"
#include "preload/runtime/options.h"
#include "preload/runtime/recorder.h"

#include <pthread.h>

#include <cstring>

namespace prof::preload {
namespace {

enum class Search : uint32_t { Off, Open, Found };
std::atomic<Search> g_search{Search::Off};
std::atomic<uint64_t> g_loads_seen{0};
std::atomic<uint32_t> g_checking{0};

// Written before g_python_walker is.
PythonInterpreter g_python;
PythonLayout g_layout;
const char* g_refusal = nullptr;  // why there is no layout
std::atomic<uint64_t> g_generation{
    0};  // of the code when it was found: a dlclose may take an embedded interpreter away

// From places in code to ids, lossy: a slot holds 40 bits of a hash and 24 of an id, and is overwritten by its next owner.
constexpr uint32_t kSlots = 1u << 15;
constexpr uint32_t kHidden = (1u << 24) - 1;  // a frame that Python does not show either
constexpr uint32_t kMostSteps = 1024;         // frames passed in one walk, hidden ones too
std::atomic<uint64_t> g_places[kSlots];
std::atomic<bool> g_places_used{false};

uint64_t word_at(uintptr_t at) {
  uint64_t word;
  std::memcpy(&word, reinterpret_cast<const void*>(at), sizeof word);
  return word;
}

// Up to 3.11 nothing in a code object is its own: a copy of a text compiled again may get all the addresses of the one before.
// So its line table counts, by contents; of a long one both ends.
uint64_t hash_of_lines(const PythonLayout& layout, uintptr_t code) {
  constexpr uint64_t kEnds = 32;
  const uintptr_t lines = word_at(code + layout.code_lines), data = lines + layout.bytes_data;
  const uint64_t size = word_at(lines + layout.bytes_size);
  uint64_t sum = size, factor = 0x9e3779b97f4a7c15;
  const auto add = [&](uint64_t word) { sum += (word ^ factor) * factor, factor += 0xe7037ed1a0b428da; };
  if (size < 8) {
    for (uint64_t i = 0; i < size; ++i) add(static_cast<uint8_t>(word_at(lines + layout.bytes_data - 7 + i) >> 56));
    return sum;
  }
  const uint64_t head = size < 2 * kEnds ? size : kEnds;
  for (uint64_t i = 0; i + 8 <= head; i += 8) add(word_at(data + i));
  for (uint64_t i = size - head; head != size && i + 8 < size; i += 8) add(word_at(data + i));
  add(word_at(data + size - 8));
  return sum;
}

uint64_t key_of(const PythonLayout& layout, const PythonFrame& frame) {
  const uintptr_t code = frame.code;
  const uint64_t place = Hash::fold(code ^ 0xa0761d6478bd642f, frame.position ^ 0xe7037ed1a0b428db);
  const uint64_t parts =
      Hash::fold(word_at(code + layout.code_identity) ^ 0x8ebc6af09c88c6e3,
                 (word_at(code + layout.code_file) + word_at(code + layout.code_first_line)) ^ 0x589965cc75374cc3);
  const uint64_t lines = layout.minor <= 11 ? hash_of_lines(layout, code) : word_at(code + layout.code_lines);
  return Hash::fold(place ^ lines, parts ^ word_at(code + layout.code_name) ^ 0x1d8e4e27c47d124f);
}

bool is_hidden(const PythonLayout& layout, const PythonFrame& frame) {
  constexpr uint8_t kOwnedByGenerator = 1;
  const uint32_t field = layout.code_first_traceable();
  if (field == kNone || frame.owner == kOwnedByGenerator) return false;
  int32_t first = 0;
  std::memcpy(&first, reinterpret_cast<const void*>(frame.code + field), sizeof first);
  return offset_of(layout, frame) < int64_t{first} * 2;
}

// The id of a frame met for the first time, its definition written. Two places on one line of one function have one id.
// 0: no id (counted where it was refused).
__attribute__((noinline)) uint32_t define_frame(const PythonLayout& layout, const PythonFrame& frame) {
  if (is_hidden(layout, frame)) return kHidden;
  char room[kMostPythonText];
  const uintptr_t code = frame.code;
  format::PythonFrameDef def;
  def.file = intern_string(python_text(layout, word_at(code + layout.code_file), room));
  def.function = intern_string(python_text(layout, word_at(code + layout.code_name), room));
  std::memcpy(&def.first_line, reinterpret_cast<const void*>(code + layout.code_first_line), sizeof def.first_line);
  const uintptr_t lines = word_at(code + layout.code_lines);
  const std::string_view table(reinterpret_cast<const char*>(lines + layout.bytes_data),
                               word_at(lines + layout.bytes_size));
  def.line = python_line(layout.lines, table, def.first_line, offset_of(layout, frame));
  Hash hash;
  hash.add(static_cast<uint64_t>(def.file) << 32 | static_cast<uint64_t>(def.function));
  hash.add(uint64_t{def.line} << 32 | def.first_line);
  const uint32_t id = g_intern.python_frames.intern(hash.done(), [&](uint32_t fresh) {
    def.id = format::PythonFrameId{fresh};
    return define(def);
  });
  return id < kHidden ? id : 0;
}

uint32_t id_of(const PythonLayout& layout, const PythonFrame& frame) {
  const uint64_t key = key_of(layout, frame);
  std::atomic<uint64_t>& slot = g_places[key % kSlots];
  const uint64_t there = slot.load(std::memory_order_acquire);
  if (((there ^ key) >> 24) == 0 && (there & kHidden) != 0) [[likely]]
    return there & kHidden;
  const uint32_t id = define_frame(layout, frame);
  if (id != 0) slot.store((key & ~uint64_t{kHidden}) | id, std::memory_order_release);
  return id;
}

// The thread state, where it is this thread's and can be relied upon. False: `flags` says whether frames are missing.
bool find_thread(uintptr_t& thread, uint32_t& flags) {
  if (g_generation.load(std::memory_order_relaxed) !=
      code_generation()) {  // files went away: is the interpreter still there?
    PythonInterpreter again;
    if (!find_python(again) || again.runtime != g_python.runtime || again.this_thread != g_python.this_thread) {
      g_python_walker.store(nullptr, std::memory_order_release);
      g_search.store(Search::Open, std::memory_order_release);
      return false;
    }
    g_generation.store(code_generation(), std::memory_order_relaxed);
  }
  // An interpreter that ends says so long before it frees the states of threads that are still in our hooks.
  if (word_at(reinterpret_cast<uintptr_t>(g_python.runtime) + g_layout.finalizing) != 0) {
    flags |= format::kStackNoPython;
    return false;
  }
  thread = reinterpret_cast<uintptr_t>(g_python.this_thread());
  return thread != 0;
}

void walk_python(PythonStack& to) {
  const PythonLayout& layout = g_layout;
  constexpr PlainMemory memory;
  uintptr_t thread = 0, at = 0;
  if (!find_thread(thread, to.flags)) return;
  if (word_at(thread + layout.thread_id) != static_cast<uint64_t>(pthread_self())) {
    to.flags |= format::kStackNoPython;
    return;
  }
  top_frame(layout, memory, thread, at);
  bool in_loop = false;  // the last frame of `to` is of the loop being walked
  uint32_t steps = 0;
  for (PythonFrame frame; at != 0 && steps < kMostSteps; at = frame.previous, ++steps) {
    read_frame(layout, memory, at, frame);
    if (frame.code == 0) {
      if (in_loop) to.frames[to.count - 1] |= format::kPythonEntry;
      in_loop = false;
      continue;
    }
    // A frame may run something else than code (extensions make such frames); it is no line of Python then.
    uint32_t id = kHidden;
    if (word_at(frame.code + layout.object_type) == reinterpret_cast<uintptr_t>(g_python.code_type)) [[likely]]
      id = id_of(layout, frame);
    if (id == kHidden) {
      if (frame.entry && in_loop) to.frames[to.count - 1] |= format::kPythonEntry;
      in_loop &= !frame.entry;
      continue;
    }
    if (to.count == to.most || id == 0) {
      to.flags |= format::kStackPythonCut;
      if (to.count == to.most) return;
      continue;
    }
    to.frames[to.count++] = uint64_t{id} << 1 | (frame.entry ? format::kPythonEntry : 0);
    in_loop = !frame.entry;
  }
}

// Inside a scope: by the first stack.
void give_up(std::string_view why) {
  static std::atomic<bool> said{false};
  g_python_walker.store(nullptr, std::memory_order_release);
  g_search.store(Search::Off, std::memory_order_release);
  say(said, "no Python stacks: Python ", g_python.version, ": ", why);
  define_meta("python", "unknown");
}

// The first stacks, until a thread with frames came by to check the layout with.
void walk_unchecked(PythonStack& to) {
  if (g_refusal != nullptr) {
    to.flags |= format::kStackNoPython;
    give_up(g_refusal);
    return;
  }
  uintptr_t thread = 0;
  if (!find_thread(thread, to.flags)) return;
  // A thread that has a state and runs no Python, as those of embedders, is looked at once.
  static std::atomic<uint64_t> without_frames{0};
  const uint64_t state = thread ^ word_at(thread + g_layout.thread_frame);
  if (without_frames.load(std::memory_order_relaxed) == state) return;
  if (g_checking.exchange(1, std::memory_order_acquire) != 0) {
    to.flags |= format::kStackNoPython;  // another thread is at it
    return;
  }
  int& error = thread_errno();
  const int saved = error;
  const Fit fit = check_layout(g_python, g_layout, thread);
  error = saved;
  if (fit == Fit::Yes) {
    define_meta("python", g_python.version);
    g_python_walker.store(walk_python, std::memory_order_release);
  } else if (fit == Fit::NotYet) {
    without_frames.store(state, std::memory_order_relaxed);
  } else {
    give_up("its frames are not where that version has them");
    to.flags |= format::kStackNoPython;
  }
  g_checking.store(0, std::memory_order_release);
  if (fit == Fit::Yes) walk_python(to);
}

void search() {
  if (g_checking.exchange(1, std::memory_order_acquire) != 0) return;
  g_loads_seen.store(loads_so_far(), std::memory_order_relaxed);
  if (g_search.load(std::memory_order_relaxed) == Search::Open && find_python(g_python)) {
    g_generation.store(code_generation(), std::memory_order_relaxed);
    g_refusal = choose_layout(g_python, g_layout);
    g_search.store(Search::Found, std::memory_order_relaxed);
    g_python_walker.store(walk_unchecked, std::memory_order_release);
  }
  g_checking.store(0, std::memory_order_release);
}

}  // namespace

void open_python() {
  g_python_walker.store(nullptr, std::memory_order_release);
  g_checking.store(0, std::memory_order_relaxed);
  if (g_places_used.exchange(true)) std::memset(static_cast<void*>(g_places), 0, sizeof g_places);
  const bool wanted = g_stack_uses.load(std::memory_order_relaxed) != 0 && std::strcmp(options().python, "off") != 0;
  g_search.store(wanted ? Search::Open : Search::Off, std::memory_order_relaxed);
  if (wanted) search();
}

void look_for_python() {
  if (g_search.load(std::memory_order_acquire) == Search::Open &&
      loads_so_far() != g_loads_seen.load(std::memory_order_relaxed)) {
    search();
  }
}

}  // namespace prof::preload
