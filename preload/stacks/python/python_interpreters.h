// Which interpreters does CPython have in this process? python_outside.cpp and python_gil.cpp follow the list on the
// helper thread.
#pragma once

#include "preload/stacks/python/outside_memory.h"
#include "preload/stacks/python/python_finder.h"
#include "preload/stacks/python/python_layouts.h"
#include "preload/stacks/python/python_stack.h"

#include <cstdint>

namespace prof::preload {

// Calls visit(address of the interpreter) until it returns false. 3.12: for the main interpreter only.
template <class Visit> void each_interpreter(const KnownPython& known, const Visit& visit) {
  constexpr uint32_t kMostInterpreters = 100;
  const PythonInterpreter& python = *known.python;
  const auto runtime = reinterpret_cast<uintptr_t>(python.runtime);
  const OutsideMemory memory{};
  uint64_t head = known.layout->interpreters, next = 0;
  if (python.minor == 12) head = 40;
  if (python.minor >= kFirstPublished && (!memory.read(runtime + 5 * 8, head) || !memory.read(runtime + 8 * 8, next)))
    return;
  if (head > (1u << 20) || next > (1u << 20)) return;
  uintptr_t interpreter = 0;
  if (!memory.read(runtime + head, interpreter)) return;
  for (uint32_t i = 0; interpreter != 0 && i < kMostInterpreters; ++i) {
    uintptr_t after = 0;
    if (!visit(interpreter) || python.minor == 12 || !memory.read(interpreter + next, after)) return;
    interpreter = after;
  }
}

}  // namespace prof::preload
