#include "analyzer/symbols/sass_operation.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <optional>

namespace prof::analyzer {

namespace {

struct SassProducer {
  std::string_view opcode;
  SassStall stall;
  std::string_view noun;
};

constexpr SassProducer kSassProducers[] = {
#define PROF_SASS(opcode, stall, noun) {#opcode, SassStall::stall, noun},
#include "analyzer/symbols/sass_producers.def"
#undef PROF_SASS
};

// Opcodes without a result in a register: their first operand is read.
constexpr std::string_view kNoResult[] = {
    "ST",        "STG",      "STL",     "STS",     "STSM",    "STTM",      "RED",          "REDG",
    "SUST",      "SURED",    "BRA",     "BRX",     "BRXU",    "JMP",       "JMX",          "JMXU",
    "CALL",      "RET",      "EXIT",    "KILL",    "BSYNC",   "BREAK",     "BAR",          "MEMBAR",
    "FENCE",     "CCTL",     "CCTLL",   "ERRBAR",  "DEPBAR",  "LDGDEPBAR", "LDGSTS",       "NANOSLEEP",
    "WARPSYNC",  "YIELD",    "NOP",     "BPT",     "RTT",     "PREXIT",    "ACQBULK",      "UTMALDG",
    "UTMASTG",   "UTMAREDG", "UTMAPF",  "UBLKCP",  "UBLKRED", "UBLKPF",    "UTMACMDFLUSH", "ARRIVES",
    "WARPGROUP", "UTCBAR",   "UTCHMMA", "UTCQMMA", "UTCIMMA", "UTCOMMA",   "UTCCP",        "UTCATOMSWS"};

constexpr std::string_view kTwoResults[] = {"TEX", "TLD", "TLD4", "TXD", "TMML"};

constexpr SassRegister kUniform = 256, kPredicate = 512, kUniformPredicate = 528, kBarrier = 544;

template <size_t n> bool is_one_of(std::string_view word, const std::string_view (&words)[n]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.'; }

std::string_view without_spaces(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

bool has_part(std::string_view name, std::string_view part) {
  for (size_t at = 0; at < name.size();) {
    const size_t end = std::min(name.find('.', at), name.size());
    if (name.substr(at, end - at) == part) return true;
    at = end + 1;
  }
  return false;
}

struct NamedRegister {
  SassRegister number = kNoSassRegister;  // kNoSassRegister: PT, RZ and others that no instruction changes
  bool predicate = false, wide = false;   // wide: ".64"
};

// "R12", "UR4.64", "P0", "UPT", "B1", "RZ", "R5.reuse". Nothing: no register.
std::optional<NamedRegister> register_of(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('.'));
  NamedRegister found;
  found.wide = has_part(word, "64");
  const bool uniform = name.size() > 1 && name[0] == 'U';
  const std::string_view rest = uniform ? name.substr(1) : name;
  if (rest.size() < 2) return std::nullopt;
  const char kind = rest[0];
  if (kind != 'R' && kind != 'P' && (kind != 'B' || uniform)) return std::nullopt;
  found.predicate = kind == 'P';
  const std::string_view digits = rest.substr(1);
  if ((kind == 'R' && digits == "Z") || (kind == 'P' && digits == "T")) return found;
  unsigned number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) return std::nullopt;
  if (number > (kind == 'R' ? 255u : 15u)) return std::nullopt;
  const SassRegister base = kind == 'R'   ? SassRegister(uniform ? kUniform : 0)
                            : kind == 'P' ? SassRegister(uniform ? kUniformPredicate : kPredicate)
                                          : kBarrier;
  found.number = static_cast<SassRegister>(base + number);
  return found;
}

// Operands between commas that are outside of brackets. Texts in `(…) and (*"…"*) are labels, not operands.
struct Operands {
  std::vector<std::string_view> all;
  std::vector<std::string_view> labels;
};

void add_labels(std::string_view text, std::vector<std::string_view>& to) {
  for (size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    to.push_back(text.substr(at, end - at));
    at = end;
  }
}

Operands operands_of(std::string_view text) {
  Operands operands;
  size_t start = 0;
  int depth = 0;
  const auto add = [&](size_t end) {
    if (const std::string_view one = without_spaces(text.substr(start, end - start)); !one.empty())
      operands.all.push_back(one);
  };
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '`' || (c == '(' && text.substr(at, 3) == "(*\"")) {  // a label; targets of an indirect jump
      const bool list = c == '(';
      const size_t end = std::min(text.find(list ? "*)" : ")", at), text.size());
      std::string_view inside = text.substr(at, end - at);
      if (list && inside.find("BRANCH_TARGETS") == std::string_view::npos) inside = {};
      add_labels(inside, operands.labels);
      add(at);
      start = at = end;
      if (start < text.size()) start += list ? 2 : 1;
      at = start - 1;
      continue;
    }
    if (c == '[' || c == '(' || c == '{') ++depth;
    if (c == ']' || c == ')' || c == '}') --depth;
    if (c != ',' || depth > 0) continue;
    add(at);
    start = at + 1;
  }
  if (start < text.size()) add(text.size());
  std::erase(operands.labels, "BRANCH_TARGETS");
  return operands;
}

void add_registers(const NamedRegister& first, unsigned count, std::vector<SassRegister>& to) {
  if (first.number == kNoSassRegister) return;
  const unsigned space = first.number < kUniform ? 255 : first.number < kPredicate ? 511 : first.number;
  for (unsigned i = 0; i < count && first.number + i <= space; ++i)
    to.push_back(static_cast<SassRegister>(first.number + i));
}

// All registers that an operand names: "desc[UR6][R12.64+0x10]", "-R5.reuse", "c[0x0][R3]", "|R2|". `words`: how many
// registers one without a size of its own has.
void add_reads(std::string_view operand, unsigned words, std::vector<SassRegister>& to) {
  const bool matrix = operand.starts_with("gdesc");  // descriptors of two matrices
  bool inside = false, descriptor = false;
  for (size_t at = 0; at < operand.size();) {
    if (!is_word(operand[at])) {
      inside = operand[at] == '[' || (inside && operand[at] != ']');
      ++at;
      continue;
    }
    size_t end = at;
    while (end < operand.size() && is_word(operand[end])) ++end;
    const std::string_view word = operand.substr(at, end - at);
    if (const std::optional<NamedRegister> found = register_of(word)) {
      unsigned count = inside ? 1 : words;
      if (found->predicate) count = 1;
      if (found->wide) count = std::max(count, 2u);
      if (descriptor) count = matrix ? 4 : 2;
      add_registers(*found, count, to);
    }
    descriptor = word == "desc" || word == "gdesc" || word == "cx";
    at = end;
  }
}

unsigned number_in(std::string_view text) {
  unsigned number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Registers of the value that a load, store or atomic operation moves.
unsigned moved_words(std::string_view opcode, std::string_view name) {
  if (opcode == "LDSM" || opcode == "STSM" || opcode == "MOVM")
    return has_part(name, "4") ? 4 : has_part(name, "2") ? 2 : 1;
  if (opcode == "LDTM" || opcode == "STTM") {
    for (size_t at = name.find(".x"); at != std::string_view::npos; at = name.find(".x", at + 2)) {
      if (const unsigned number = number_in(name.substr(at + 2)); number != 0) return std::min(number, 128u);
    }
    return 1;
  }
  if (has_part(name, "128") || has_part(name, "256")) return 4;  // 256: two results of four registers
  for (const std::string_view two : {"64", "U64", "S64", "F64", "F32x2"}) {
    if (has_part(name, two)) return 2;
  }
  return 1;
}

// Registers of the result, and of the source operands by position (the last one counts for all after it).
struct Sizes {
  unsigned result = 1;
  unsigned source[4] = {1, 1, 1, 1};
};

Sizes same_sizes(unsigned words) { return {words, {words, words, words, words}}; }

// m64nNk…: the accumulator of a warpgroup's operation, by thread.
unsigned accumulator_words(std::string_view name) {
  const size_t at = name.find("64x");
  const unsigned columns = at == std::string_view::npos ? 8 : number_in(name.substr(at + 3));
  const unsigned words = has_part(name, "F32") || name.starts_with('I') ? columns / 2 : columns / 4;
  return std::clamp(words, 1u, 128u);
}

Sizes sizes_of(std::string_view opcode, std::string_view name) {
  const bool f64 = has_part(name, "F64"), i64 = has_part(name, "S64") || has_part(name, "U64");
  if (opcode == "F2F") {  // F2F.F32.F64: to, from
    const size_t wide = name.find("F64"), other = std::min({name.find("F32"), name.find("F16"), name.find("BF16")});
    if (wide == std::string_view::npos) return {};
    if (other == std::string_view::npos) return same_sizes(2);
    return wide < other ? Sizes{2, {1, 1, 1, 1}} : Sizes{1, {2, 2, 2, 2}};
  }
  if (opcode == "F2I") return {i64 ? 2u : 1u, {f64 ? 2u : 1u, 1, 1, 1}};
  if (opcode == "I2F") return {f64 ? 2u : 1u, {i64 ? 2u : 1u, 1, 1, 1}};
  if (opcode == "CS2R") return {has_part(name, "32") ? 1u : 2u, {1, 1, 1, 1}};
  if (opcode == "DADD" || opcode == "DMUL" || opcode == "DFMA" || opcode == "DSETP" || opcode == "DMNMX" ||
      opcode == "FFMA2" || opcode == "FADD2" || opcode == "FMUL2")
    return same_sizes(2);
  if (opcode == "DMMA") return {4, {2, 2, 4, 4}};
  if ((opcode == "IMAD" || opcode == "UIMAD") && has_part(name, "WIDE")) return {2, {1, 1, 2, 1}};
  if (opcode == "HMMA" || opcode == "IMMA" || opcode == "QMMA" || opcode == "OMMA" || opcode == "BMMA") {
    const size_t dot = name.find('.');
    const unsigned shape = dot == std::string_view::npos ? 0 : number_in(name.substr(dot + 1));
    const bool small = opcode == "IMMA" ? shape == 16816 || shape == 8816 : shape == 1688 || shape == 884;
    const unsigned sums = opcode == "HMMA" && !has_part(name, "F32") ? 2 : 4;
    return {sums, {small ? 2u : 4u, small ? 1u : 2u, sums, 1}};
  }
  if (opcode == "HGMMA" || opcode == "IGMMA" || opcode == "QGMMA" || opcode == "BGMMA") {
    const unsigned sums = accumulator_words(name);
    return {sums, {4, 1, sums, 1}};
  }
  if (is_one_of(opcode, kTwoResults)) return same_sizes(2);
  if (opcode == "SHF" || opcode == "USHF" || opcode == "R2UR") return {};  // SHF.R.U64: of two registers
  return same_sizes(moved_words(opcode, name));
}

void set_flow(std::string_view name, const Operands& operands, SassOperation& to) {
  using Flow = SassOperation::Flow;
  const std::string_view opcode = to.opcode;
  const bool guarded = to.guard != kNoSassRegister;
  to.targets = operands.labels;
  if (opcode == "BRA" || opcode == "JMP") {
    to.flow = Flow::Jump;
    to.conditional = guarded || !operands.all.empty() || has_part(name, "DIV") || has_part(name, "CONV");
  } else if (opcode == "BRX" || opcode == "BRXU" || opcode == "JMX" || opcode == "JMXU") {
    to.flow = Flow::Jump;
    to.conditional = guarded;
  } else if (opcode == "WARPSYNC" && !to.targets.empty()) {
    to.flow = Flow::Jump;
    to.conditional = true;
  } else if (opcode == "CALL") {
    to.flow = Flow::Call;
    to.conditional = guarded;
  } else if (opcode == "RET") {
    to.flow = Flow::Return;
    to.targets.clear();  // the function that it returns to, not the place
    to.conditional = guarded;
  } else if (opcode == "EXIT" || opcode == "KILL" || opcode == "RTT") {
    to.flow = Flow::End;
    to.conditional = guarded;
  } else if (opcode == "BSSY") {
    to.flow = Flow::Enter;
  } else if (opcode == "BSYNC") {
    to.flow = Flow::Meet;
  }
}

}  // namespace

SassOperation parse_sass_operation(std::string_view text) {
  SassOperation to;
  text = without_spaces(text);
  if (text.starts_with('@')) {
    const size_t end = std::min(text.find(' '), text.size());
    std::string_view guard = text.substr(1, end - 1);
    to.guard_negated = guard.starts_with('!');
    if (to.guard_negated) guard.remove_prefix(1);
    if (const std::optional<NamedRegister> found = register_of(guard); found && found->predicate) {
      to.guard = found->number;
      to.never = found->number == kNoSassRegister && to.guard_negated;
    }
    text = without_spaces(text.substr(end));
  }
  const size_t end = std::min(text.find(' '), text.size());
  const std::string_view name = text.substr(0, end);
  to.opcode = name.substr(0, name.find('.'));
  const Operands operands = operands_of(text.substr(end));
  const auto producer = std::find_if(std::begin(kSassProducers), std::end(kSassProducers),
                                     [&](const SassProducer& each) { return each.opcode == to.opcode; });
  if (producer != std::end(kSassProducers)) {
    to.stall = producer->stall;
    to.noun = producer->noun;
  }
  to.starts_copy = to.opcode == "LDGSTS";
  to.commits_copies = to.opcode == "LDGDEPBAR";
  if (to.opcode == "DEPBAR" && operands.all.size() >= 2 && operands.all[1].starts_with("0x")) {
    const std::string_view digits = operands.all[1].substr(2);
    std::from_chars(digits.data(), digits.data() + digits.size(), to.copies_left, 16);
  }
  set_flow(name, operands, to);
  if (to.guard != kNoSassRegister) to.reads.push_back(to.guard);

  const Sizes sizes = sizes_of(to.opcode, name);
  size_t next = 0;  // the first source operand
  if (!is_one_of(to.opcode, kNoResult) && !operands.all.empty()) {
    const auto at = [&](size_t i) {
      return i < operands.all.size() ? register_of(operands.all[i]) : std::optional<NamedRegister>();
    };
    if (to.opcode == "R2P" && operands.all[0] == "PR") {
      for (SassRegister i = 0; i < 7; ++i) to.writes.push_back(static_cast<SassRegister>(kPredicate + i));
      next = 1;
    } else if (const std::optional<NamedRegister> first = at(0); first && !first->predicate) {
      // A result, and at most two predicates: carries, or a vote.
      add_registers(*first, sizes.result, to.writes);
      const size_t most = to.opcode == "VOTE" || to.opcode == "VOTEU" ? 1 : 2;
      for (next = 1; next <= most && at(next) && at(next)->predicate; ++next) add_registers(*at(next), 1, to.writes);
      const bool two = (to.opcode == "LDG" && has_part(name, "256")) || is_one_of(to.opcode, kTwoResults);
      if (const std::optional<NamedRegister> second = at(1); two && second && !second->predicate) {
        add_registers(*second, sizes.result, to.writes);
        next = 2;
      }
    } else if (first) {
      // One or two predicates, or a predicate and a result.
      add_registers(*first, 1, to.writes);
      next = 1;
      const bool alone = to.opcode == "FCHK" || to.opcode.ends_with("SETP") || to.opcode == "SYNCS";
      if (const std::optional<NamedRegister> second = at(1); second && second->predicate) {
        add_registers(*second, 1, to.writes);
        next = 2;
      } else if (second && !alone) {
        add_registers(*second, sizes.result, to.writes);
        next = 2;
      }
    }
  }
  for (size_t i = next, source = 0; i < operands.all.size(); ++i, ++source)
    add_reads(operands.all[i], sizes.source[std::min<size_t>(source, 3)], to.reads);
  if (to.opcode == "P2R") {
    for (SassRegister i = 0; i < 7; ++i) to.reads.push_back(static_cast<SassRegister>(kPredicate + i));
  }
  const auto once = [](std::vector<SassRegister>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  once(to.writes);
  once(to.reads);
  return to;
}

}  // namespace prof::analyzer
