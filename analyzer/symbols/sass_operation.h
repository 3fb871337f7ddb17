// Offline. What does a SASS instruction read, write and jump to, by its text as nvdisasm prints it? The text is all
// that is used: an opcode that is not known writes its first operand. If the text is damaged, the answer has less.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// A register of a thread or warp: R, UR (uniform), P, UP (predicates) or B (convergence barriers).
using SassRegister = uint16_t;
inline constexpr SassRegister kNoSassRegister = UINT16_MAX;

// What makes later instructions wait (sass_producers.def). None: it takes a fixed number of cycles.
enum class SassStall : uint8_t { None, Long, Short, Barrier, Fence, Branch, Matrix };
constexpr bool is_scoreboard(SassStall stall) { return stall == SassStall::Long || stall == SassStall::Short; }

struct SassOperation {
  enum class Flow : uint8_t {
    Next,    // the next instruction follows
    Jump,    // to one of `targets`; conditional: or the next one
    Call,    // of targets[0], else of code that is not in the listing
    Return,  // from a call
    End,     // of the thread
    Enter,   // BSSY: threads that leave the region meet at targets[0]
    Meet     // BSYNC: they go on there
  };
  std::string_view opcode;                  // "LDG"
  std::string_view noun;                    // of sass_producers.def; empty: a fixed number of cycles
  SassStall stall = SassStall::None;        // of those that wait for it
  std::vector<SassRegister> writes, reads;  // with the guard among those read
  SassRegister guard = kNoSassRegister;     // it is executed if this predicate is true
  bool guard_negated = false;               // or false
  bool never = false;                       // @!PT
  Flow flow = Flow::Next;
  bool conditional = false;                          // the next instruction may follow a Jump, Call, Return or End
  std::vector<std::string_view> targets;             // labels
  bool starts_copy = false, commits_copies = false;  // LDGSTS; LDGDEPBAR ends a group of them
  int64_t copies_left = -1;                          // DEPBAR.LE: waits until so many groups are left; -1: another one
};

// The result has views of `text`.
SassOperation parse_sass_operation(std::string_view text);

}  // namespace prof::analyzer
