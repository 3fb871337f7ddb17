// preload/driver/handle_map.h: who finds a handle sees what was written before it was put.
#include "tests/models/models.h"

namespace model {
namespace {

#define mmap(address, bytes, ...) map_pages<uint64_t>(bytes)
#define munmap(memory, bytes) unmap_pages<uint64_t>(memory, bytes)
#include "handle_map.inc"
#undef mmap
#undef munmap

const void* handle(uint64_t number) { return reinterpret_cast<const void*>(number << 8); }

// Threads put handles; one puts another value under a handle that is known; one finds them.
struct HandleMapTest : rl::test_suite<HandleMapTest, 3> {
  HandleMap<1>* map;  // a second part is made for the second handle
  rl::var<int> data[8];
  void before() { map = new HandleMap<1>; }
  void after() {
    for (uint64_t n = 1; n <= 3; ++n) RL_ASSERT(map->find(handle(n)) != 0);
    map->free_parts();
    delete map;
  }
  void thread(unsigned index) {
    if (index < 2) {
      data[index + 1]($) = 1;
      map->put(handle(index + 1), index + 1);
      if (index == 0) {
        data[5]($) = 1;
        map->put(handle(1), 5);
        data[3]($) = 1;
        map->put(handle(3), 3);
      }
      return;
    }
    for (uint64_t n = 1; n <= 3; ++n) {
      if (const uint64_t value = map->find(handle(n)); value != 0) RL_ASSERT(data[value]($) == 1);
    }
  }
};

// A handle is erased and its place is used by another.
struct HandleMapEraseTest : rl::test_suite<HandleMapEraseTest, 2> {
  HandleMap<1>* map;
  rl::var<int> data[8];
  void before() { map = new HandleMap<1>; }
  void after() {
    map->free_parts();
    delete map;
  }
  void thread(unsigned index) {
    if (index == 0) {
      data[1]($) = 1;
      map->put(handle(1), 1);
      map->erase(handle(1));
      data[2]($) = 1;
      map->put(handle(2), 2);
    } else {
      if (const uint64_t value = map->find(handle(2)); value != 0) RL_ASSERT(data[value]($) == 1);
      if (const uint64_t value = map->find(handle(1)); value != 0) RL_ASSERT(data[value]($) == 1);
    }
  }
};

}  // namespace

void add_handle_map(Models& models) {
  models.add<HandleMapTest>("a handle is found with what was written before it was put");
  models.add<HandleMapEraseTest>("the place of an erased handle is used again");
}

}  // namespace model
