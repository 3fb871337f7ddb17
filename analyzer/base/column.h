// Column<T>: a growing array of plain rows. It leaves memory untouched until rows are written, and free() returns
// memory to the system at once. Used by the model for everything that has one row per event. std::vector would zero
// rows before they are filled, and would hold them twice while it grows.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace prof::analyzer {

template <class T> class Column {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Column() = default;
  Column(Column&& other) noexcept { swap(other); }
  Column& operator=(Column&& other) noexcept {
    swap(other);
    return *this;
  }
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;
  ~Column() { free(); }

  T* data() { return rows_; }
  const T* data() const { return rows_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return rows_[i]; }
  const T& operator[](size_t i) const { return rows_[i]; }
  T* begin() { return rows_; }
  T* end() { return rows_ + size_; }
  const T* begin() const { return rows_; }
  const T* end() const { return rows_ + size_; }
  T& back() { return rows_[size_ - 1]; }

  void push_back(const T& row) {
    if (size_ == capacity_) reserve(capacity_ == 0 ? 1 : capacity_ + capacity_ / 2 + 1);
    rows_[size_++] = row;
  }

  // New rows are zero bytes.
  void resize(size_t size) {
    reserve(size);
    size_ = size;
  }

  void reserve(size_t rows) {
    if (rows <= capacity_) return;
    constexpr size_t kPage = 4096;
    const size_t bytes = (rows * sizeof(T) + kPage - 1) / kPage * kPage;
    void* moved = rows_ == nullptr ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                   : mremap(static_cast<void*>(rows_), mapped_bytes_, bytes, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) throw std::bad_alloc();
    // Huge pages are not requested: while the page cache is full, creating them takes longer than they save.
    rows_ = static_cast<T*>(moved);
    mapped_bytes_ = bytes;
    capacity_ = bytes / sizeof(T);
  }

  void free() {
    if (rows_ != nullptr) munmap(static_cast<void*>(rows_), mapped_bytes_);
    rows_ = nullptr;
    size_ = capacity_ = mapped_bytes_ = 0;
  }

  void swap(Column& other) noexcept {
    std::swap(rows_, other.rows_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
  }

 private:
  T* rows_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  size_t mapped_bytes_ = 0;
};

}  // namespace prof::analyzer
