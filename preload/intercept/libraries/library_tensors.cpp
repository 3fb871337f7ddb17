#include "preload/intercept/libraries/library_tensors.h"

#include <atomic>
#include <cstring>

namespace prof::preload {

namespace {

// The version is odd while a thread writes. A reader that finds it odd or changed treats the tensor as not known. A
// second writer lets the first finish and writes nothing. If the writing thread never returns (fork), the place is
// lost.
//   | version | descriptor | rank, type, vectors | eight sizes of 32 bits |
struct alignas(64) Place {
  static constexpr int kWords = PlanTensor::kMostDimensions / 2;
  std::atomic<uint32_t> version;
  std::atomic<uint32_t> kind;
  std::atomic<const void*> descriptor;
  std::atomic<uint64_t> sizes[kWords];
};
static_assert(sizeof(Place) == 64);
static_assert(sizeof(PlanTensor::sizes) == sizeof(uint64_t) * Place::kWords);

constexpr uint32_t kPlaceBits = 9;
constinit Place g_places[1u << kPlaceBits] = {};

Place& place_of(const void* descriptor) {
  return g_places[reinterpret_cast<uintptr_t>(descriptor) * 0x9e3779b97f4a7c15 >> (64 - kPlaceBits)];
}

constexpr auto kRelaxed = std::memory_order_relaxed;
// For the members of a place: a reader that sees a value written after the version became odd also sees the odd
// version. Fences would be equivalent, but ThreadSanitizer does not support them. On x86 neither costs anything.
constexpr auto kWrite = std::memory_order_release, kRead = std::memory_order_acquire;

// tensor null: `descriptor` no longer has sizes.
void write(const void* descriptor, const PlanTensor* tensor) {
  Place& place = place_of(descriptor);
  if (tensor == nullptr && place.descriptor.load(kRelaxed) != descriptor) return;
  uint32_t version = place.version.load(kRelaxed);
  if ((version & 1) != 0 || !place.version.compare_exchange_strong(version, version + 1, std::memory_order_acquire))
    return;
  place.descriptor.store(tensor != nullptr ? descriptor : nullptr, kWrite);
  if (tensor != nullptr) {
    uint64_t words[Place::kWords];
    std::memcpy(words, tensor->sizes, sizeof words);
    for (int i = 0; i < Place::kWords; ++i) place.sizes[i].store(words[i], kWrite);
    place.kind.store(tensor->rank | uint32_t{tensor->type} << 8 | uint32_t{tensor->vectors} << 16, kWrite);
  }
  place.version.store(version + 2, std::memory_order_release);
}

}  // namespace

// The types 5, 7 and 8 are vectors of numbers.
bool make_tensor(PlanTensor& to, int type, int rank, const int* sizes) {
  if (rank < 1 || rank > PlanTensor::kMostDimensions || type < 0 || type > 250) return false;
  to = {};
  to.rank = static_cast<uint8_t>(rank);
  to.type = static_cast<uint8_t>(type + 1);
  to.vectors = type == 5 || type == 7 || type == 8;
  for (int i = 0; i < rank; ++i) to.sizes[i] = sizes[i];
  return true;
}

void tensor_set(const LibraryForm& form, const LibraryArguments& a, uint32_t status) {
  const void* const descriptor = a.pointer(0);
  const auto number = [&](int at) { return static_cast<int32_t>(a[at]); };
  int listed[PlanTensor::kMostDimensions];
  const int rank = form.rank != 0 ? form.rank : number(form.sizes - 1);
  for (int i = 0; i < form.rank; ++i) listed[i] = number(form.sizes + i);
  PlanTensor tensor;
  const bool known =
      status == 0 && make_tensor(tensor, number(form.type), rank,
                                 form.rank != 0 ? listed : static_cast<const int*>(a.pointer(form.sizes)));
  write(descriptor, known ? &tensor : nullptr);
}

void tensors_changed(const LibraryForm& form, const LibraryArguments& a) {
  for (const int16_t at : {form.operand_a, form.operand_b, form.operand_c}) {
    if (at >= 0) write(a.pointer(at), nullptr);
  }
}

bool noted_tensor(const void* descriptor, PlanTensor& to) {
  const Place& place = place_of(descriptor);
  const uint32_t version = place.version.load(std::memory_order_acquire);
  if ((version & 1) != 0 || descriptor == nullptr || place.descriptor.load(kRead) != descriptor) return false;
  uint64_t words[Place::kWords];
  for (int i = 0; i < Place::kWords; ++i) words[i] = place.sizes[i].load(kRead);
  const uint32_t kind = place.kind.load(kRead);
  if (place.version.load(kRelaxed) != version) return false;
  std::memcpy(to.sizes, words, sizeof words);
  to.rank = static_cast<uint8_t>(kind);
  to.type = static_cast<uint8_t>(kind >> 8);
  to.vectors = (kind >> 16 & 1) != 0;
  return true;
}

}  // namespace prof::preload
