// Interprets the DWARF call frame instructions that compilers emit: two base registers and saved words at fixed
// offsets. It understands two forms of expressions: that of the PLT, and that of functions that realign their stack.
#include "preload/stacks/cfi.h"

#include "preload/stacks/dwarf_bytes.h"

#include <algorithm>
#include <cstring>

namespace prof::preload {

namespace {

#if defined(__aarch64__)
constexpr uint64_t kFpRegister = 29, kSpRegister = 31, kReturnRegister = 30;
#else
constexpr uint64_t kFpRegister = 6, kSpRegister = 7, kReturnRegister = 16;
#endif

// Where the value of a register of the caller is saved.
struct Saved {
  enum Where : uint8_t { Same, AtCfa, AtFp, Undefined, Other } where = Same;
  int64_t offset = 0;
};
struct Row {
  uint64_t cfa_register = kSpRegister;
  int64_t cfa_offset = 0;
  CfaBase expression_base{};
  bool by_expression = false, hard = false;
  Saved fp, ra;
  int64_t lowest = 0;  // offset of a saved register from the CFA
};

// Reduces `expression` to a base register + offset, or to the word at that address. False: it has another form.
bool evaluate(Bytes code, uint64_t pc, CfaBase& base, int64_t& offset) {
  struct Value {
    int base;  // 0: a number, 1: sp, 2: fp
    bool word;
    int64_t number;
  };
  Value stack[8];
  size_t depth = 0;
  while (code.ok && code.at != code.end) {
    const auto op = code.take<uint8_t>();
    Value value{0, false, 0};
    if (op >= 0x70 && op <= 0x8f) {  // breg0…31
      value.number = code.sleb();
      if (op == 0x70 + kSpRegister) {
        value.base = 1;
      } else if (op == 0x70 + kFpRegister) {
        value.base = 2;
      } else if (op == 0x70 + kReturnRegister) {
        value.number += static_cast<int64_t>(pc);  // of x86-64: rip
      } else {
        return false;
      }
    } else if (op >= 0x30 && op <= 0x4f) {
      value.number = op - 0x30;  // lit0…31
    } else if (op == 0x08) {
      value.number = code.take<uint8_t>();
    } else if (op == 0x09) {
      const auto byte = code.take<uint8_t>();  // signed
      value.number = byte < 0x80 ? byte : int64_t{byte} - 0x100;
    } else if (op == 0x23) {  // plus_uconst
      if (depth < 1 || stack[depth - 1].word) return false;
      stack[depth - 1].number += static_cast<int64_t>(code.uleb());
      continue;
    } else if (op == 0x06) {  // deref
      if (depth < 1 || stack[depth - 1].base == 0 || stack[depth - 1].word) return false;
      stack[depth - 1].word = true;
      continue;
    } else {
      if (depth < 2) return false;
      const Value right = stack[--depth];
      Value& left = stack[depth - 1];
      if (right.base != 0 || left.word) return false;
      const auto a = static_cast<uint64_t>(left.number), b = static_cast<uint64_t>(right.number);
      if (op == 0x22) {
        left.number = static_cast<int64_t>(a + b);
        continue;
      }
      if (left.base != 0) return false;
      switch (op) {
        case 0x1a: left.number = static_cast<int64_t>(a & b); break;
        case 0x1c: left.number = static_cast<int64_t>(a - b); break;
        case 0x24: left.number = b < 64 ? static_cast<int64_t>(a << b) : 0; break;
        case 0x2a: left.number = left.number >= right.number; break;
        default: return false;
      }
      continue;
    }
    if (depth == 8) return false;
    stack[depth++] = value;
  }
  if (!code.ok || depth != 1 || stack[0].base == 0) return false;
  base = stack[0].base == 1 ? (stack[0].word ? CfaBase::AtSp : CfaBase::Sp)
                            : (stack[0].word ? CfaBase::AtFp : CfaBase::Fp);
  offset = stack[0].number;
  return true;
}

struct Cie {
  uint64_t code_align = 1;
  int64_t data_align = 1;
  uint8_t encoding = 0;
  bool augmented = false, signal = false;
  Bytes code{nullptr, nullptr};
};

class Program {
 public:
  Program(const Cie& cie, uint64_t pc, uint64_t begin) : cie_(cie), pc_(pc), at_(begin) {}

  // Runs until the row of pc is complete. False: an unknown instruction.
  bool run(Bytes code) {
    while (code.ok && code.at != code.end && !done_) {
      const auto op = code.take<uint8_t>();
      const uint64_t low = op & 0x3f;
      bool known = true;
      switch (op & 0xc0) {
        case 0x40: advance(low); break;
        case 0x80: save(low, {Saved::AtCfa, static_cast<int64_t>(code.uleb()) * cie_.data_align}); break;
        case 0xc0: restore(low); break;
        default: known = other(op, code); break;
      }
      if (!known) return false;
    }
    return code.ok;
  }
  void keep_initial() { initial_ = row_; }
  Row& row() { return row_; }

 private:
  void advance(uint64_t steps) {
    at_ += steps * cie_.code_align;
    done_ = at_ > pc_;
  }
  void save(uint64_t reg, Saved saved) {
    if (reg == kFpRegister) row_.fp = saved;
    if (reg == kReturnRegister) row_.ra = saved;
    constexpr int64_t kFarthest = -(1 << 14);
    if (saved.where == Saved::AtCfa && saved.offset >= kFarthest) row_.lowest = std::min(row_.lowest, saved.offset);
    // The word cannot represent a stack pointer that is restored in its own way (CPU contexts switched by hand).
    if (reg == kSpRegister && saved.where != Saved::Same) row_.hard = true;
  }
  void restore(uint64_t reg) {
    if (reg == kFpRegister) row_.fp = initial_.fp;
    if (reg == kReturnRegister) row_.ra = initial_.ra;
  }
  void define_cfa(uint64_t reg, int64_t offset) {
    row_.by_expression = false;
    row_.cfa_register = reg;
    row_.cfa_offset = offset;
  }
  void save_by_expression(uint64_t reg, Bytes expression) {
    Saved saved{Saved::Other, 0};
    CfaBase base{};
    int64_t offset = 0;
    if (evaluate(expression, pc_, base, offset) && base == CfaBase::Fp) saved = {Saved::AtFp, offset};
    save(reg, saved);
  }
  bool other(uint8_t op, Bytes& code) {
    const auto factored = [&] { return static_cast<int64_t>(code.uleb()) * cie_.data_align; };
    const auto signed_factored = [&] { return code.sleb() * cie_.data_align; };
    uint64_t reg = 0;
    switch (op) {
      case 0x00: break;
      case 0x01:
        at_ = code.pointer(cie_.encoding, 0);
        done_ = at_ > pc_;
        break;
      case 0x02: advance(code.take<uint8_t>()); break;
      case 0x03: advance(code.take<uint16_t>()); break;
      case 0x04: advance(code.take<uint32_t>()); break;
      case 0x05:
        reg = code.uleb();
        save(reg, {Saved::AtCfa, factored()});
        break;
      case 0x06: restore(code.uleb()); break;
      case 0x07: save(code.uleb(), {Saved::Undefined, 0}); break;
      case 0x08: save(code.uleb(), {Saved::Same, 0}); break;
      case 0x09:
        reg = code.uleb();
        code.uleb();
        save(reg, {Saved::Other, 0});
        break;
      case 0x0a:
        if (depth_ == kDeepest) return false;
        kept_[depth_++] = row_;
        break;
      case 0x0b:
        if (depth_ == 0) return false;
        row_ = kept_[--depth_];
        break;
      case 0x0c:
        reg = code.uleb();
        define_cfa(reg, static_cast<int64_t>(code.uleb()));
        break;
      case 0x0d: define_cfa(code.uleb(), row_.cfa_offset); break;
      case 0x0e: row_.cfa_offset = static_cast<int64_t>(code.uleb()); break;
      case 0x0f:
        row_.by_expression = true;
        if (!evaluate(code.block(), pc_, row_.expression_base, row_.cfa_offset))
          row_.cfa_register = ~uint64_t{0};
        else
          row_.cfa_register = kSpRegister;
        break;
      case 0x10:
        reg = code.uleb();
        save_by_expression(reg, code.block());
        break;
      case 0x11:
        reg = code.uleb();
        save(reg, {Saved::AtCfa, signed_factored()});
        break;
      case 0x12:
        reg = code.uleb();
        define_cfa(reg, signed_factored());
        break;
      case 0x13: row_.cfa_offset = signed_factored(); break;
      case 0x14:
        reg = code.uleb();
        code.uleb();
        save(reg, {Saved::Other, 0});
        break;
      case 0x15:
        reg = code.uleb();
        code.sleb();
        save(reg, {Saved::Other, 0});
        break;
      case 0x16:
        reg = code.uleb();
        code.block();
        save(reg, {Saved::Other, 0});
        break;
#if defined(__aarch64__)
      case 0x2d: break;  // toggles the signing of return addresses: the walk strips signatures anyway
#endif
      case 0x2e: code.uleb(); break;  // size of pushed arguments
      case 0x2f:
        reg = code.uleb();
        save(reg, {Saved::AtCfa, -factored()});
        break;
      default: return false;
    }
    return true;
  }

  static constexpr size_t kDeepest = 8;
  const Cie& cie_;
  const uint64_t pc_;
  uint64_t at_;
  bool done_ = false;
  Row row_, initial_;
  Row kept_[kDeepest];
  size_t depth_ = 0;
};

UnwindRule rule_of(const Row& row) {
  if (row.ra.where == Saved::Undefined) return UnwindRule::of(RuleKind::Outermost);
  CfaBase base = row.expression_base;
  if (!row.by_expression) base = row.cfa_register == kFpRegister ? CfaBase::Fp : CfaBase::Sp;
  const bool usual = row.cfa_register == kSpRegister || row.cfa_register == kFpRegister;
  if (!usual || row.hard || row.ra.where != Saved::AtCfa) return UnwindRule::of(RuleKind::Hard);
  switch (row.fp.where) {
    case Saved::Same: return UnwindRule::plain(base, row.cfa_offset, FpRule::Same, 0, row.ra.offset);
    case Saved::AtCfa: return UnwindRule::plain(base, row.cfa_offset, FpRule::FromCfa, row.fp.offset, row.ra.offset);
    case Saved::AtFp: return UnwindRule::plain(base, row.cfa_offset, FpRule::FromFp, row.fp.offset, row.ra.offset);
    default: return UnwindRule::plain(base, row.cfa_offset, FpRule::Lost, 0, row.ra.offset);
  }
}

// The contents of the entry at `at`, after its length. Not ok: there is no entry, or it has the 64-bit format (more
// than 4 GiB).
Bytes entry_at(const UnwindTables& tables, const uint8_t* at) {
  if (at < tables.begin || at >= tables.end) return {nullptr, nullptr, false};
  Bytes bytes{at, tables.end};
  const auto size = bytes.take<uint32_t>();
  if (!bytes.ok || size == 0 || size == UINT32_MAX || size > static_cast<size_t>(bytes.end - bytes.at))
    return {nullptr, nullptr, false};
  return {bytes.at, bytes.at + size};
}

bool read_cie(const UnwindTables& tables, const uint8_t* at, Cie& cie) {
  Bytes bytes = entry_at(tables, at);
  if (!bytes.ok || bytes.take<uint32_t>() != 0) return false;
  const auto version = bytes.take<uint8_t>();
  const uint8_t* const names = bytes.at;
  while (bytes.ok && bytes.take<uint8_t>() != 0) {}
  cie.code_align = bytes.uleb();
  cie.data_align = bytes.sleb();
  if (version == 1) {
    bytes.take<uint8_t>();
  } else {
    bytes.uleb();
  }
  if (!bytes.ok || (version != 1 && version != 3)) return false;
  if (names[0] == 'z') {
    cie.augmented = true;
    Bytes data = bytes.block();
    if (!bytes.ok) return false;
    for (const uint8_t* name = names + 1; *name != 0; ++name) {
      if (*name == 'R') {
        cie.encoding = data.take<uint8_t>();
      } else if (*name == 'P') {
        const auto encoding = data.take<uint8_t>();
        data.pointer(encoding & 0x0f, 0);
      } else if (*name == 'L') {
        data.take<uint8_t>();
      } else if (*name == 'S') {
        cie.signal = true;
      } else if (*name != 'B') {  // of aarch64: which key signs return addresses
        return false;
      }
    }
    if (!data.ok) return false;
  } else if (names[0] != 0) {
    return false;
  }
  cie.code = bytes;
  return bytes.ok;
}

// The last entry of the sorted table that starts at or before pc. Null: none. `odd`: the table has another form.
const uint8_t* find_entry(const UnwindTables& tables, uint64_t pc, bool& odd) {
  Bytes bytes{tables.header, tables.end};
  const auto base = reinterpret_cast<uint64_t>(tables.header);
  const auto version = bytes.take<uint8_t>();
  const auto frame_encoding = bytes.take<uint8_t>(), count_encoding = bytes.take<uint8_t>(),
             table_encoding = bytes.take<uint8_t>();
  bytes.pointer(frame_encoding, base);
  const uint64_t count = bytes.pointer(count_encoding, base);
  struct Slot {
    int32_t code, entry;  // from `header`
  };
  odd = !bytes.ok || version != 1 || table_encoding != 0x3b || count_encoding == 0xff ||
        count > static_cast<uint64_t>(bytes.end - bytes.at) / sizeof(Slot);
  if (odd || count == 0) return nullptr;
  const auto slot = [&](uint64_t i) {
    Slot read;
    std::memcpy(&read, bytes.at + i * sizeof read, sizeof read);
    return read;
  };
  const auto wanted = static_cast<int64_t>(pc - base);
  uint64_t low = 0, high = count;
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    (slot(middle).code <= wanted ? low : high) = middle;
  }
  const Slot found = slot(low);
  if (found.code > wanted) return nullptr;
  return reinterpret_cast<const uint8_t*>(base + static_cast<uint64_t>(int64_t{found.entry}));
}

}  // namespace

UnwindEntry unwind_entry_at(const UnwindTables& tables, uint64_t pc) {
  const auto without_rule = [](RuleKind kind) { return UnwindEntry{UnwindRule::of(kind), 0, 0, 0}; };
  if (tables.header == nullptr || tables.header < tables.begin || tables.header >= tables.end)
    return without_rule(RuleKind::Unknown);
  bool odd = false;
  const uint8_t* const fde_at = find_entry(tables, pc, odd);
  if (fde_at == nullptr) return without_rule(odd ? RuleKind::Hard : RuleKind::Unknown);
  Bytes fde = entry_at(tables, fde_at);
  const uint8_t* const id_at = fde.at;
  const auto back = fde.ok ? fde.take<uint32_t>() : 0;
  Cie cie;
  if (!fde.ok || back == 0 || back > static_cast<size_t>(id_at - tables.begin) ||
      !read_cie(tables, id_at - back, cie)) {
    return without_rule(RuleKind::Hard);
  }
  const auto base = reinterpret_cast<uint64_t>(tables.header);
  const uint64_t begin = fde.pointer(cie.encoding, base);
  const uint64_t size = fde.pointer(cie.encoding & 0x0f, 0);
  if (cie.augmented) fde.block();
  if (!fde.ok) return without_rule(RuleKind::Hard);
  if (pc < begin || pc - begin >= size) return without_rule(RuleKind::Unknown);
  if (cie.signal) return without_rule(RuleKind::Signal);
  Program program(cie, pc, begin);
#if !defined(__aarch64__)
  program.row().ra = {Saved::AtCfa, -8};
#endif
  // Instructions of the CIE have no position, so none of them may stop at pc.
  if (!program.run(cie.code)) return without_rule(RuleKind::Hard);
  program.keep_initial();
  if (!program.run(fde)) return without_rule(RuleKind::Hard);
  const Row& row = program.row();
  return {rule_of(row), begin, size, static_cast<uint64_t>(-row.lowest)};
}

}  // namespace prof::preload
