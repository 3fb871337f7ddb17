// Objects whose handles programs may use after the objects were destroyed. Their memory is never freed, only reused,
// the newest first, as by an allocator. So the state of a handle can be read without dereferencing it. State is read
// without a lock, because launches read it.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

namespace sim {

enum class Life : uint8_t { Unknown, Alive, Destroyed, Orphan };  // Orphan: its context was destroyed

template <class T> class ObjectPool {
 public:
  T* make() {
    std::lock_guard<std::mutex> lock(mutex_);
    void* memory = nullptr;
    if (free_.empty()) {
      memory = ::operator new(sizeof(T));
    } else {
      memory = free_.back();
      free_.pop_back();
    }
    T* one = new (memory) T;
    set(one, Life::Alive);
    return one;
  }
  void destroy(T* one) {
    std::lock_guard<std::mutex> lock(mutex_);
    set(one, Life::Destroyed);
    one->~T();
    free_.push_back(one);
  }
  void orphan(T* one) {
    std::lock_guard<std::mutex> lock(mutex_);
    set(one, Life::Orphan);
  }
  Life life(const void* handle) const {
    for (uint32_t i = 0, at = start(handle); i < kProbes; ++i, at = (at + 1) % kSlots) {
      const void* there = slots_[at].object.load(std::memory_order_acquire);
      if (there == handle) return slots_[at].life.load(std::memory_order_acquire);
      if (there == nullptr) return Life::Unknown;
    }
    return Life::Alive;  // the table is full here: unknown, so treated as alive
  }
  bool alive(const void* handle) const { return life(handle) == Life::Alive; }

 private:
  static constexpr uint32_t kSlots = 1u << 17, kProbes = 64;
  struct Slot {
    std::atomic<const void*> object;
    std::atomic<Life> life;
  };
  static uint32_t start(const void* handle) {
    return static_cast<uint32_t>((reinterpret_cast<uint64_t>(handle) >> 4) * 0x9e3779b97f4a7c15 >> 40) % kSlots;
  }
  void set(const void* handle, Life life) {
    for (uint32_t i = 0, at = start(handle); i < kProbes; ++i, at = (at + 1) % kSlots) {
      const void* there = slots_[at].object.load(std::memory_order_relaxed);
      if (there != nullptr && there != handle) continue;
      slots_[at].life.store(life, std::memory_order_release);
      slots_[at].object.store(handle, std::memory_order_release);
      return;
    }
  }

  std::mutex mutex_;  // innermost
  std::vector<void*> free_;
  Slot slots_[kSlots] = {};
};

}  // namespace sim
