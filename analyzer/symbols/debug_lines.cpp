// The cost is that of the units that contain a requested address, each read once, however scattered its code is: their
// line tables, and of their functions only the subtrees that contain an address. A search from the top for every
// address (dwarf_getscopes) would cost a thousand times as much.
#include "analyzer/symbols/debug_lines.h"

#if PROF_HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <libelf.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

namespace {

constexpr int kDeepest = 256;  // levels of a tree of entries; deeper trees are damage

// An address range of a unit or function.
struct Stretch {
  uint64_t begin = 0, end = 0;
  uint32_t of = 0;  // index of the unit or function
};

struct Unit {
  Dwarf_Die die{};
  Dwarf_Die split{};  // where its entries are, if they are in a separate file
};

struct Function {
  Dwarf_Die die{};
  uint32_t parent = UINT32_MAX;  // function into which it is inlined
  int depth = 0;
};

// Calls take(begin, end) for each address range of an entry.
template <class Take> void each_stretch(Dwarf_Die* die, Take&& take) {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  for (ptrdiff_t offset = 0; (offset = dwarf_ranges(die, offset, &base, &begin, &end)) > 0;) {
    if (begin < end && begin != 0) take(begin, end);  // 0: code that the linker removed
  }
}

std::string_view text(const char* chars) { return chars == nullptr ? std::string_view() : std::string_view(chars); }

// The linker's name, else the name in the source; also searched in the entry's abstract origin.
std::string_view function_name(Dwarf_Die* die, bool& linker_name) {
  Dwarf_Attribute attribute{};
  linker_name = true;
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    if (dwarf_attr_integrate(die, name, &attribute) != nullptr) return text(dwarf_formstring(&attribute));
  }
  linker_name = false;
  if (dwarf_attr_integrate(die, DW_AT_name, &attribute) == nullptr) return {};
  return text(dwarf_formstring(&attribute));
}

uint32_t number(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute{};
  Dwarf_Word value = 0;
  if (dwarf_attr(die, name, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0) return 0;
  return value > UINT32_MAX ? 0 : static_cast<uint32_t>(value);
}

// Visits the entry, its abstract origin and its declaration. One of them has a known scope.
template <class Visit> void each_origin(Dwarf_Die die, Visit&& visit) {
  constexpr int kMostSteps = 8;
  for (int step = 0; step < kMostSteps; ++step) {
    visit(die);
    Dwarf_Attribute attribute{};
    const bool more = dwarf_attr(&die, DW_AT_abstract_origin, &attribute) != nullptr ||
                      dwarf_attr(&die, DW_AT_specification, &attribute) != nullptr;
    Dwarf_Die origin{};
    if (!more || dwarf_formref_die(&attribute, &origin) == nullptr) return;
    die = origin;
  }
}

// The functions of one unit that contain a requested address, and the scopes of all its functions.
class UnitFunctions {
 public:
  UnitFunctions(Unit& unit, std::span<const uint64_t> addresses) : addresses_(addresses) {
    Dwarf_Die* const root = unit.split.addr != nullptr ? &unit.split : &unit.die;
    children(root, UINT32_MAX, 0, {});
    std::stable_sort(stretches_.begin(), stretches_.end(),
                     [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  }

  // The innermost function at the address, which must not be lower than the previous one; null: none.
  Function* at(uint64_t address) {
    for (; next_ < stretches_.size() && stretches_[next_].begin <= address; ++next_) open_.push_back(stretches_[next_]);
    std::erase_if(open_, [&](const Stretch& stretch) { return stretch.end <= address; });
    Function* innermost = nullptr;
    for (const Stretch& stretch : open_) {
      Function& function = functions_[stretch.of];
      if (innermost == nullptr || function.depth > innermost->depth) innermost = &function;
    }
    return innermost;
  }
  // The scope ("at::native::") of a function without a linker name; empty: unknown. Sets `place` to an identifier of
  // the function.
  std::string_view scope(const Function& function, uint64_t& place) const {
    std::string_view scope;
    each_origin(function.die, [&](Dwarf_Die& die) {
      place = dwarf_dieoffset(&die);
      const auto found = scopes_.find(place);
      if (found != scopes_.end()) scope = found->second;
    });
    return scope;
  }
  Function* parent(const Function& function) {
    return function.parent == UINT32_MAX ? nullptr : &functions_[function.parent];
  }

 private:
  void children(Dwarf_Die* of, uint32_t inside, int level, std::string_view scope) {
    Dwarf_Die child{};
    if (level > kDeepest || dwarf_child(of, &child) != 0) return;
    do {
      switch (dwarf_tag(&child)) {
        case DW_TAG_subprogram:
          if (!scope.empty()) scopes_.emplace(dwarf_dieoffset(&child), scope);
          function(child, UINT32_MAX, level);
          break;
        case DW_TAG_inlined_subroutine: function(child, inside, level); break;
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
        case DW_TAG_call_site:
          if (inside != UINT32_MAX) children(&child, inside, level + 1, {});
          break;
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
          if (inside == UINT32_MAX) children(&child, inside, level + 1, inner_scope(child, scope));
          break;
        default: break;
      }
    } while (dwarf_siblingof(&child, &child) == 0);
  }

  std::string_view inner_scope(Dwarf_Die& die, std::string_view scope) {
    const std::string_view name = text(dwarf_diename(&die));
    const bool is_namespace = dwarf_tag(&die) == DW_TAG_namespace;
    std::string inner(scope);
    inner += name.empty() ? (is_namespace ? "(anonymous namespace)" : "(anonymous)") : name;
    return texts_.emplace_back(inner + "::");
  }

  void function(Dwarf_Die& die, uint32_t parent, int level) {
    const auto row = static_cast<uint32_t>(functions_.size());
    const size_t before = stretches_.size();
    each_stretch(&die, [&](uint64_t begin, uint64_t end) {
      const auto first = std::lower_bound(addresses_.begin(), addresses_.end(), begin);
      if (first != addresses_.end() && *first < end) stretches_.push_back({begin, end, row});
    });
    if (stretches_.size() == before) return;
    functions_.push_back({die, parent, level});
    Dwarf_Die inside = die;
    children(&inside, row, level + 1, {});
  }

  const std::span<const uint64_t> addresses_;
  std::vector<Function> functions_;
  std::vector<Stretch> stretches_, open_;
  size_t next_ = 0;
  std::deque<std::string> texts_;
  std::unordered_map<uint64_t, std::string_view> scopes_;  // by offset of the entry
};

class Reader {
 public:
  Reader(Dwarf* dwarf, std::span<const uint64_t> addresses,
         const std::function<void(size_t, std::span<const DebugFrame>)>& found)
      : dwarf_(dwarf), addresses_(addresses), found_(found) {}

  void run() {
    find_units();
    // Functions that are in several units (templates, inline functions) have sections of their own, so a unit may have
    // thousands of ranges.
    std::vector<std::vector<size_t>> rows(units_.size());
    for (size_t i = 0, next = 0; i < addresses_.size(); ++i) {
      while (next < stretches_.size() && stretches_[next].end <= addresses_[i]) ++next;
      if (next == stretches_.size()) break;
      if (addresses_[i] >= stretches_[next].begin) rows[stretches_[next].of].push_back(i);
    }
    for (size_t u = 0; u < units_.size(); ++u) {
      if (!rows[u].empty()) unit(units_[u], rows[u]);
    }
  }

 private:
  void find_units() {
    Dwarf_CU* cu = nullptr;
    uint8_t type = 0;
    Unit unit;
    while (dwarf_get_units(dwarf_, cu, &cu, nullptr, &type, &unit.die, &unit.split) == 0) {
      if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
      const auto row = static_cast<uint32_t>(units_.size());
      bool any = false;
      each_stretch(&unit.die, [&](uint64_t begin, uint64_t end) {
        const auto first = std::lower_bound(addresses_.begin(), addresses_.end(), begin);
        if (first == addresses_.end() || *first >= end) return;
        stretches_.push_back({begin, end, row});
        any = true;
      });
      if (any) units_.push_back(unit);
    }
    std::sort(stretches_.begin(), stretches_.end(), [](const Stretch& a, const Stretch& b) { return a.end < b.end; });
  }

  void unit(Unit& unit, std::span<const size_t> rows) {
    std::vector<uint64_t> addresses;
    for (const size_t row : rows) addresses.push_back(addresses_[row]);
    UnitFunctions functions(unit, addresses);
    Dwarf_Files* files = nullptr;
    size_t file_count = 0;
    Dwarf_Die* const root = unit.split.addr != nullptr ? &unit.split : &unit.die;
    if (dwarf_getsrcfiles(root, &files, &file_count) != 0) files = nullptr;
    for (size_t i = 0; i < rows.size(); ++i) {
      frames_.clear();
      DebugFrame frame;
      Dwarf_Line* const line = dwarf_getsrc_die(&unit.die, addresses[i]);
      if (line != nullptr) {
        frame.file = text(dwarf_linesrc(line, nullptr, nullptr));
        int number = 0;
        if (dwarf_lineno(line, &number) == 0 && number > 0) frame.line = static_cast<uint32_t>(number);
      }
      for (Function* function = functions.at(addresses[i]); function != nullptr && frames_.size() < kDeepest;) {
        Function* const parent = functions.parent(*function);
        frame.inlined = parent != nullptr;
        bool linker_name = false;
        frame.function = function_name(&function->die, linker_name);
        if (!linker_name) frame.function = qualified(functions, *function, frame.function);
        frame.plain = !linker_name;
        frames_.push_back(frame);
        frame = {};
        const uint32_t file = number(&function->die, DW_AT_call_file);
        if (files != nullptr && file < file_count) frame.file = text(dwarf_filesrc(files, file, nullptr, nullptr));
        frame.line = number(&function->die, DW_AT_call_line);
        function = parent;
      }
      if (frames_.empty() && frame.line != 0) frames_.push_back(frame);
      if (!frames_.empty()) found_(rows[i], frames_);
    }
  }

  // Returned texts remain valid.
  std::string_view qualified(const UnitFunctions& functions, const Function& function, std::string_view name) {
    uint64_t place = 0;
    const std::string_view scope = functions.scope(function, place);
    if (scope.empty()) return name;
    const auto [found, added] = qualified_.try_emplace(place);
    if (added) found->second = std::string(scope).append(name);
    return found->second;
  }

  Dwarf* const dwarf_;
  const std::span<const uint64_t> addresses_;
  const std::function<void(size_t, std::span<const DebugFrame>)>& found_;
  std::vector<Unit> units_;
  std::vector<Stretch> stretches_;
  std::vector<DebugFrame> frames_;
  std::unordered_map<uint64_t, std::string>
      qualified_;  // by offset of the function's first entry; nodes of the map do not move
};

}  // namespace

bool has_debug_lines() { return true; }

std::string read_debug_lines(const std::string& path, std::span<const uint64_t> addresses,
                             const std::function<void(size_t, std::span<const DebugFrame>)>& found) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::strerror(errno);
  std::string why;
  elf_version(EV_CURRENT);
  Elf* const elf = elf_begin(fd, ELF_C_READ, nullptr);
  Dwarf* const dwarf = elf == nullptr ? nullptr : dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
  if (elf == nullptr) {
    why = text(elf_errmsg(-1));
  } else if (dwarf == nullptr) {
    why = text(dwarf_errmsg(-1));
  } else {
    Reader(dwarf, addresses, found).run();
  }
  if (dwarf != nullptr) dwarf_end(dwarf);
  if (elf != nullptr) elf_end(elf);
  close(fd);
  return why;
}

}  // namespace prof::analyzer

#else

namespace prof::analyzer {

bool has_debug_lines() { return false; }

std::string read_debug_lines(const std::string&, std::span<const uint64_t>,
                             const std::function<void(size_t, std::span<const DebugFrame>)>&) {
  return "built without libdw";
}

}  // namespace prof::analyzer

#endif
