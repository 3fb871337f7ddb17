// preload/record/intern.h, intern.cpp: whoever finds the id of some contents finds their definition written.
#include "tests/models/models.h"

namespace model {
namespace {

namespace format {
constexpr uint32_t kFirstOnceId = 1u << 22;
enum class LossCounter { intern_full };
}  // namespace format
bool in_ring() { return false; }
bool is_cut_off() { return false; }
void count(format::LossCounter) {}
struct KeepErrno {
  ~KeepErrno() {}
};

#define munmap(memory, bytes) unmap_pages<uint64_t>(memory, bytes)
void* map_slots(size_t bytes) { return map_pages<uint64_t>(bytes); }
#include "intern.inc"
#include "intern_grow.inc"
#undef munmap

// kOpening: the first thread opens the table meanwhile. Every thread defines contents and looks for those of others.
// Segments have 1, 4 and 16 slots.
template <bool kOpening> struct InternTest : rl::test_suite<InternTest<kOpening>, 3> {
  static constexpr uint64_t kContents = 3;
  InternTable* table;
  void* first;
  rl::var<uint64_t> definition[32];
  void before() {
    table = new InternTable;
    first = map_slots(sizeof(InternTable::Slot));
    if (!kOpening) table->open(static_cast<InternTable::Slot*>(first), 1, 3);
  }
  void after() {
    for (uint32_t segment = 0; segment < InternTable::kMostSegments; ++segment) {
      size_t bytes = 0;
      if (InternTable::Slot* const slots = table->take_segment(segment, bytes); slots != nullptr)
        unmap_pages<uint64_t>(slots, bytes);
      else if (segment == 0)
        unmap_pages<uint64_t>(first, sizeof(InternTable::Slot));
    }
    delete table;
  }
  static uint64_t hash(uint64_t contents) { return contents << 40 | contents; }
  void thread(unsigned index) {
    if (kOpening && index == 0) table->open(static_cast<InternTable::Slot*>(first), 1, 3);
    if (kOpening && index == 1) return;
    for (uint64_t i = 0; i < kContents; ++i) {
      const uint64_t contents = (i + index) % kContents + 1;
      if (index == 2) {
        if (const uint32_t id = table->find(hash(contents)); id != 0) RL_ASSERT(definition[id]($) == contents);
        continue;
      }
      const uint32_t id = table->intern(hash(contents), [&](uint32_t made) {
        definition[made]($) = contents;
        return true;
      });
      RL_ASSERT(id != 0 && definition[id]($) == contents);
    }
  }
};

}  // namespace

void add_intern(Models& models) {
  models.add<InternTest<false>>("an id is found after its definition was written");
  models.add<InternTest<true>>("an id is found in a table that another thread has just opened");
}

}  // namespace model
