#include "preload/stacks/call_stack.h"

#include "preload/base/code_generation.h"
#include "preload/base/messages.h"
#include "preload/base/options.h"
#include "preload/format/stack_definitions.h"
#include "preload/log/count.h"
#include "preload/record/append.h"
#include "preload/record/intern.h"
#include "preload/record/launch_extras.h"
#include "preload/record/texts.h"
#include "preload/record/thread.h"
#include "preload/record/thread_local.h"
#include "preload/stacks/code_images.h"
#include "preload/stacks/libunwind.h"
#include "preload/stacks/native_stack.h"
#include "preload/stacks/python/python_stack.h"
#include "preload/stacks/stack_memo.h"

#include <cstring>
#include <string_view>

namespace prof::preload {

std::atomic<uint32_t> g_stack_uses{0};

namespace {

uint32_t g_depth = format::kMaxStackFrames;

// A sum over frames and their positions. It is a sum because then no multiplication waits for the one before it.
uint64_t sum_of(const PythonStack& stack) {
  uint64_t sum = 0, place = 0x9e3779b97f4a7c15;
  for (uint32_t i = 0; i < stack.count; ++i) {
    sum += Hash::fold(stack.frames[i] ^ place, 0xe7037ed1a0b428db);
    place += 0xa0761d6478bd642f;
  }
  return sum;
}

// Called once for each stack that the log defines. The analyzer counts the affected calls by the flags of their stacks.
void count_gaps(uint32_t flags) {
  if ((flags & format::kStackCut) != 0) count(format::LossCounter::stacks_cut);
  if ((flags & format::kStackBroken) != 0) count(format::LossCounter::stacks_broken);
  if ((flags & format::kStackNoPython) != 0) count(format::LossCounter::stacks_without_python);
}

// Defines a stack that the log does not have yet. `native` was recalled or walked, so its frames may be missing.
__attribute__((noinline)) uint32_t define_stack(uint64_t hash, ThreadState& thread, NativeStack& native,
                                                const PythonStack& python) {
  if (native.count == 0 && (native.flags & format::kStackNoNative) == 0 &&
      !walk_native(thread, t_local.guard_frame, native)) {
    return 0;
  }
  look_for_python();
  define_images();
  const uint32_t id = g_intern.stacks.intern(hash, [&](uint32_t fresh) {
    format::StackDef stack;
    stack.id = format::StackId{fresh};
    stack.generation = code_generation();
    stack.native = {native.frames, nullptr, native.count};
    stack.python = {python.frames, nullptr, python.count};
    stack.flags = native.flags | python.flags;
    if (!define(stack)) return false;
    count_gaps(stack.flags);
    return true;
  });
  return id;
}

}  // namespace

__attribute__((noinline)) format::StackId take_stack() {
  ThreadLocal& local = t_local;
  uint64_t frames[format::kMaxStackFrames], python_frames[format::kMaxStackFrames];
  NativeStack native{frames, g_depth, 0, 0, 0};
  PythonStack python{python_frames, g_depth, 0, 0};
  if (!recall_native(*local.state, local.guard_frame, native) &&
      !walk_native(*local.state, local.guard_frame, native)) {
    native = {frames, g_depth, 0, format::kStackNoNative, 0};
  }
  uint64_t key = native.hash;
  if (const PythonWalker walk = g_python_walker.load(std::memory_order_acquire); walk != nullptr) {
    if (local.state->memo != nullptr) python.memo = &local.state->memo->python;
    walk(python);
    Hash hash;
    hash.add(native.hash).add(uint64_t{python.flags} << 32 | python.count).add(sum_of(python));
    key = hash.done();
  }
  if (key == 0) key = 1;  // no native frames, and no Python
  uint32_t id = g_intern.stacks.find(key);
  if (id == 0) [[unlikely]]
    id = define_stack(key, *local.state, native, python);
  return format::StackId{id};
}

namespace {

std::atomic<bool> g_images_open{false};  // for this process
std::atomic<bool> g_python_open{false};  // for this recording

// Reads the options and prepares the memory that the walks need.
void open_native_stacks(bool another_recording) {
  uint32_t uses = options().stacks.bits;
  const bool host = options().host_samples.wanted();
  g_depth = static_cast<uint32_t>(options().stack_depth);
  if (another_recording) {
    if (g_images_open) write_images_again();  // memory and memos stay: threads may be inside
    return;
  }
  const bool images = (uses != 0 || host) && open_images();
  g_images_open = images;
  if (uses != 0 && (!images || !open_memos())) uses = 0;
  if (uses != 0) open_libunwind();
  g_stack_uses.store(uses, std::memory_order_release);
}

}  // namespace

void open_stacks(bool another_recording) {
  open_native_stacks(another_recording);
  set_launch_extra(kLaunchStack, stacks_wanted(StackUse::Launch));
  g_python_open = g_stack_uses.load(std::memory_order_relaxed) != 0 || options().host_samples.wanted();
  open_python(g_python_open);
}

// Without stacks and samples so far, no other thread reads what is opened here.
bool open_stacks_of_samples() {
  if (!g_images_open) g_images_open = open_images();
  if (g_images_open && !g_python_open.exchange(true)) open_python(true);
  return g_images_open;
}

void describe_stacks() {
  const uint32_t uses = g_stack_uses.load(std::memory_order_relaxed);
  if (uses == 0) return;
  char text[64];
  size_t size = 0;
  uint32_t bit = 1;
  for (const auto& [name, argument] : option::WordsOf<StackUse>::kWords) {
    if ((uses & bit) != 0) {
      if (size != 0) text[size++] = ',';
      std::memcpy(text + size, name.data(), name.size());
      size += name.size();
    }
    bit <<= 1;
  }
  define_meta("stacks", {text, size});
  define_meta("libunwind", libunwind_path()[0] != '\0' ? libunwind_path() : "not found");
}

}  // namespace prof::preload
