// Call stacks: which code made a launch, a copy, an allocation or a wait? One table for every input. Logs have native
// and Python frames, traces of torch.profiler have Python frames as texts (call_stacks.h). Filled by stack_import.cpp.
//
//   StackId -> Stack -> FrameId... -> Frame -> ModuleId -> Module
//
// Equal stacks have one id, and so have equal frames, also across processes. A library is identified by build-id and
// path, an address in it by its offset in the file. So the same line of code has the same number before its name is
// known.
#pragma once

#include "analyzer/base/strings.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

enum class StackId : uint32_t {};   // row of StackTable; 0: no stack
enum class FrameId : uint32_t {};   // row of StackTable
enum class ModuleId : uint32_t {};  // row of StackTable; 0: unknown

// An ELF file: the program or a shared library.
struct Module {
  StringId path{};      // path on the machine that recorded
  StringId build_id{};  // hex digits; empty: none
  uint64_t file_bytes = 0;
  uint64_t file_time = 0;  // seconds since 1970; 0: unknown
  bool operator==(const Module&) const = default;
};

// Text: one line of another tool's stack that has neither file nor line.
enum class FrameKind : uint8_t { Native = 0, Python = 1, Text = 2 };

// One location in code.
struct Frame {
  FrameKind kind{};
  ModuleId module{};  // native
  uint64_t address =
      0;  // native: return address as an address of the module's file; of the process if the module is unknown
  StringId function{};  // Python, Text; symbols name native frames
  StringId file{};      // Python
  uint32_t line = 0;    // Python; 0: unknown
  uint32_t first_line = 0;
  bool operator==(const Frame&) const = default;
};

// A frame of a stack. `entry`: an evaluation loop of the interpreter began with this Python frame. The frames before
// it, up to the last entry, run in the same loop.
struct StackFrame {
  uint32_t word = 0;
  static constexpr StackFrame of(FrameId frame, bool entry = false) {
    return {static_cast<uint32_t>(frame) << 1 | (entry ? 1u : 0u)};
  }
  constexpr FrameId frame() const { return FrameId{word >> 1}; }
  constexpr bool entry() const { return (word & 1) != 0; }
  bool operator==(const StackFrame&) const = default;
};

// Both parts have the innermost frame first. Flags: format::kStack….
struct Stack {
  uint32_t first = 0;  // index into StackTable's frames: native, then Python
  uint16_t native = 0;
  uint16_t python = 0;  // Python or Text
  uint32_t flags = 0;
};

class StackTable {
 public:
  StackTable();

  ModuleId intern(const Module& module);
  FrameId intern(const Frame& frame);
  StackId intern(std::span<const StackFrame> native, std::span<const StackFrame> python, uint32_t flags);

  const Stack& operator[](StackId id) const { return stacks_[static_cast<uint32_t>(id)]; }
  const Frame& operator[](FrameId id) const { return frames_[static_cast<uint32_t>(id)]; }
  const Module& operator[](ModuleId id) const { return modules_[static_cast<uint32_t>(id)]; }
  std::span<const StackFrame> native(StackId id) const {
    const Stack& stack = (*this)[id];
    return {pool_.data() + stack.first, stack.native};
  }
  std::span<const StackFrame> python(StackId id) const {
    const Stack& stack = (*this)[id];
    return {pool_.data() + stack.first + stack.native, stack.python};
  }
  bool empty() const { return stacks_.size() == 1; }
  size_t size() const { return stacks_.size(); }  // number of rows, including row 0
  size_t frames() const { return frames_.size(); }
  size_t modules() const { return modules_.size(); }
  // Whether the stack is deeper than recorded, broken off, or one part is missing.
  bool incomplete(StackId id) const;

 private:
  struct Hash {
    size_t operator()(const Module& module) const;
    size_t operator()(const Frame& frame) const;
  };
  std::vector<Stack> stacks_;
  std::vector<Frame> frames_;
  std::vector<Module> modules_;
  std::vector<StackFrame> pool_;
  std::unordered_map<Module, ModuleId, Hash> module_rows_;
  std::unordered_map<Frame, FrameId, Hash> frame_rows_;
  std::unordered_multimap<uint64_t, StackId> stack_rows_;  // by hash of the contents
};

// The text without symbols: "libtorch_cuda.so+0x1a2b", "0x7f0012345678", "model.py(57): forward" (Kineto's form).
std::string frame_text(const StackTable& stacks, const StringTable& strings, const Frame& frame);

}  // namespace prof::analyzer
