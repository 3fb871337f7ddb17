// How do the stacks of a log become rows of the model? Every address becomes an offset in the file that was mapped
// there when the stack was captured. Called by import_definitions.cpp.
#include "analyzer/input/log/build/staging.h"
#include "analyzer/input/log/log_definitions.h"
#include "analyzer/model/trace.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace prof::analyzer {

namespace {

// One file, mapped during the generations [first, gone).
struct Mapped {
  uint64_t begin = 0, end = 0, base = 0;
  uint64_t first = 0, gone = UINT64_MAX;
  ModuleId module{};
};

class StackImporter {
 public:
  StackImporter(const LogDefinitions& from, IdMap& ids, Trace& to) : from_(from), ids_(ids), to_(to) {}

  void run() {
    images();
    std::vector<std::pair<format::StackId, const format::StackDef*>> stacks;
    from_.stacks.for_each([&](format::StackId id, const format::StackDef& stack) { stacks.emplace_back(id, &stack); });
    std::stable_sort(stacks.begin(), stacks.end(),
                     [](const auto& a, const auto& b) { return a.second->generation < b.second->generation; });
    for (const auto& [id, def] : stacks) {
      const format::StackDef& stack = *def;
      advance(stack.generation);
      native_.clear();
      python_.clear();
      stack.native.for_each([&](uint64_t address) { native_.push_back(native(address)); });
      stack.python.for_each([&](uint64_t word) { python_.push_back(python(word)); });
      ids_.set(index(id), index(to_.stacks.intern(native_, python_, stack.flags)));
    }
    symbols();
  }

 private:
  void images() {
    std::map<uint32_t, uint64_t> gone;  // ImageId -> generation
    for (const format::ImageGone& def : from_.images_gone) {
      const auto [found, added] = gone.try_emplace(index(def.id), def.generation);
      if (!added) found->second = std::min(found->second, def.generation);
    }
    from_.images.for_each([&](format::ImageId id, const format::ImageDef& image) {
      Mapped row{image.begin, image.end, image.base, image.generation, UINT64_MAX, {}};
      if (const auto found = gone.find(index(id)); found != gone.end()) row.gone = found->second;
      row.module = to_.stacks.intern(Module{to_.strings.intern(from_.strings[image.path]),
                                            to_.strings.intern(image.build_id), image.file_bytes, image.file_time});
      if (row.begin < row.end) mapped_.push_back(row);
      modules_.set(index(id), index(row.module));
    });
    std::stable_sort(mapped_.begin(), mapped_.end(),
                     [](const Mapped& a, const Mapped& b) { return a.first < b.first; });
    for (uint32_t i = 0; i < mapped_.size(); ++i) leaving_.emplace(mapped_[i].gone, i);
  }

  void symbols() {
    for (const format::SymbolDef& def : from_.symbols) {
      Frame frame;
      frame.module = static_cast<ModuleId>(modules_.find_or(index(def.image), 0));
      frame.address = def.address;
      if (frame.module == ModuleId{}) continue;
      to_.symbols.push_back({to_.stacks.intern(frame), to_.strings.intern(from_.strings[def.function]),
                             to_.strings.intern(from_.strings[def.file]), def.line, def.inlined != 0});
    }
  }

  // Updates `alive_` to the files that are mapped in that generation, which must not decrease.
  void advance(uint64_t generation) {
    bool changed = false;
    for (; next_ < mapped_.size() && mapped_[next_].first <= generation; ++next_, changed = true)
      alive_.emplace(mapped_[next_].begin, next_);
    for (; !leaving_.empty() && leaving_.begin()->first <= generation; changed = true) {
      const uint32_t row = leaving_.begin()->second;
      alive_.erase({mapped_[row].begin, row});
      leaving_.erase(leaving_.begin());
    }
    if (changed) known_.clear();
  }

  // The image that contains the call before a return address.
  const Mapped* find(uint64_t address) const {
    const uint64_t call = address - 1;
    const auto after = alive_.upper_bound({call, UINT32_MAX});
    if (after == alive_.begin()) return nullptr;
    const Mapped& image = mapped_[std::prev(after)->second];
    return call < image.end ? &image : nullptr;
  }

  StackFrame native(uint64_t address) {
    const auto [found, added] = known_.try_emplace(address, FrameId{});
    if (added) {
      Frame frame;
      frame.kind = FrameKind::Native;
      frame.address = address;
      if (const Mapped* const image = find(address); image != nullptr) {
        frame.module = image->module;
        frame.address = address - image->base;
      }
      found->second = to_.stacks.intern(frame);
    }
    return StackFrame::of(found->second);
  }

  StackFrame python(uint64_t word) {
    const format::PythonFrameDef& def = from_.python_frames[format::python_frame_of(word)];
    Frame frame;
    frame.kind = FrameKind::Python;
    frame.function = to_.strings.intern(from_.strings[def.function]);
    frame.file = to_.strings.intern(from_.strings[def.file]);
    frame.line = def.line;
    frame.first_line = def.first_line;
    return StackFrame::of(to_.stacks.intern(frame), format::is_python_entry(word));
  }

  const LogDefinitions& from_;
  IdMap& ids_;
  Trace& to_;
  IdMap modules_;                                  // ImageId -> ModuleId
  std::vector<Mapped> mapped_;                     // by `first`
  uint32_t next_ = 0;                              // in mapped_: the first one that is not mapped yet
  std::set<std::pair<uint64_t, uint32_t>> alive_;  // begin, row of mapped_
  std::multimap<uint64_t, uint32_t> leaving_;      // generation, row of mapped_
  std::unordered_map<uint64_t, FrameId> known_;    // addresses of the current images
  std::vector<StackFrame> native_, python_;
};

}  // namespace

void import_stacks(const LogDefinitions& definitions, IdMap& ids, Trace& trace) {
  StackImporter(definitions, ids, trace).run();
}

}  // namespace prof::analyzer
