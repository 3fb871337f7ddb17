#include "preload/intercept/nvtx/nvtx_objects.h"

#include "preload/driver/handle_map.h"
#include "preload/format/block.h"
#include "preload/format/utf8.h"
#include "preload/log/count.h"
#include "preload/record/append.h"
#include "preload/record/intern.h"
#include "preload/record/texts.h"
#include "preload/record/thread_local.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <cwchar>
#include <new>

namespace prof::preload {
namespace {

constexpr uint64_t kDomain = 0x6e6961646f646e76, kString = 0x676e697274736e76, kSync = 0x636e797378746e76,
                   kResource = 0x6372756f73657276, kGone = 0x656e6f6778746e76;

// Chunks of mapped memory. If a larger object does not fit, the rest of the chunk stays unused.
struct ObjectChunk {
  std::atomic<size_t> used;
  size_t size;
  const ObjectChunk* before;
};
std::atomic<ObjectChunk*> g_chunk{nullptr};
std::atomic<uint32_t> g_domains{0};
HandleMap<16384> g_objects;  // hash of (kind, domain, text) → object

void* allocate(size_t bytes) {
  bytes = (bytes + 15) & ~size_t{15};
  for (;;) {
    ObjectChunk* const chunk = g_chunk.load(std::memory_order_acquire);
    if (chunk != nullptr) {
      const size_t at = chunk->used.fetch_add(bytes, std::memory_order_relaxed);
      if (at + bytes <= chunk->size) return reinterpret_cast<char*>(chunk) + at;
    }
    constexpr size_t kHead = 64, kUsual = 256 * 1024;
    const size_t size = bytes + kHead > kUsual ? bytes + kHead : kUsual;
    const int error = errno;
    void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = error;
    if (memory == MAP_FAILED) return nullptr;
    auto* const fresh = new (memory) ObjectChunk{{kHead}, size, chunk};
    ObjectChunk* expected = chunk;
    if (!g_chunk.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) munmap(memory, size);
  }
}

NvtxObject* make(uint64_t magic, NvtxObject* domain, std::string_view text) {
  const uint64_t hash = hash_of_text(text);
  const uint64_t key = Hash().add(magic).add(reinterpret_cast<uint64_t>(domain)).add(hash).done();
  if (const uint64_t known = g_objects.find(reinterpret_cast<void*>(key)); known != 0) {
    return reinterpret_cast<NvtxObject*>(known);
  }
  void* const memory = allocate(sizeof(NvtxObject) + text.size());
  if (memory == nullptr) return nullptr;
  auto* const object = new (memory) NvtxObject{};
  object->magic = magic;
  object->hash = hash;
  object->domain = domain;
  object->size = static_cast<uint32_t>(text.size());
  std::memcpy(object->text, text.data(), text.size());
  object->text[text.size()] = '\0';
  if (magic == kDomain) object->level_slot = g_domains.fetch_add(1, std::memory_order_relaxed) + 1;
  g_objects.put(reinterpret_cast<void*>(key), reinterpret_cast<uint64_t>(object));
  return object;
}

std::atomic<NvtxObject*> g_gone{
    nullptr};  // destroyed objects, linked by `domain`; a thread takes the whole list, so no object is taken twice
std::atomic<uint64_t> g_number{0};

void put_back(NvtxObject* first, NvtxObject* last) {
  NvtxObject* head = g_gone.load(std::memory_order_relaxed);
  do last->domain = head;
  while (!g_gone.compare_exchange_weak(head, first, std::memory_order_release, std::memory_order_relaxed));
}

NvtxObject* make_own(uint64_t magic, NvtxObject* domain, std::string_view text) {
  if (text.size() > kMaxNvtxName) {
    text = text.substr(0, kMaxNvtxName);
    count(format::LossCounter::text_cut);
  }
  NvtxObject* object = g_gone.exchange(nullptr, std::memory_order_acquire);
  if (object != nullptr && object->domain != nullptr) {
    NvtxObject* last = object->domain;
    while (last->domain != nullptr) last = last->domain;
    put_back(object->domain, last);
  }
  if (object == nullptr) {
    void* const memory = allocate(sizeof(NvtxObject) + kMaxNvtxName);
    if (memory == nullptr) return nullptr;
    object = new (memory) NvtxObject{};
  }
  object->domain = domain;
  object->chained.store(nullptr, std::memory_order_relaxed);
  object->size = static_cast<uint32_t>(text.size());
  object->number = g_number.fetch_add(1, std::memory_order_relaxed) + 1;
  object->named = object->named_object = 0;
  std::memcpy(object->text, text.data(), text.size());
  object->text[text.size()] = '\0';
  object->hash = hash_of_text(text);
  object->magic = magic;
  return object;
}

NvtxObject* checked(const void* handle, uint64_t magic) {
  if (handle == nullptr) return nullptr;
  auto* const object = static_cast<NvtxObject*>(const_cast<void*>(handle));
  if ((reinterpret_cast<uintptr_t>(handle) & 15) == 0 && object->magic == magic) return object;
  count(format::LossCounter::nvtx_handles_unknown);
  return nullptr;
}

}  // namespace

void* nvtx_allocate(size_t bytes) { return allocate(bytes); }

NvtxObject* nvtx_new_sync(NvtxObject* domain, std::string_view name) { return make_own(kSync, domain, name); }
NvtxObject* nvtx_new_resource(NvtxObject* domain, std::string_view name) { return make_own(kResource, domain, name); }
NvtxObject* nvtx_sync_of(const void* handle) { return checked(handle, kSync); }
NvtxObject* nvtx_resource_of(const void* handle) { return checked(handle, kResource); }
void nvtx_destroy(NvtxObject* object) {
  object->magic = kGone;
  put_back(object, object);
}

NvtxObject* nvtx_domain(std::string_view name) { return make(kDomain, nullptr, name); }
NvtxObject* nvtx_registered(NvtxObject* domain, std::string_view text) { return make(kString, domain, text); }
NvtxObject* nvtx_domain_of(const void* handle) { return checked(handle, kDomain); }
// A program may pass the handle as a text; with NVIDIA's tools that works, and a sample of CUPTI does so. So the handle
// is the address of the text.
void* nvtx_string_handle(NvtxObject* string) { return string != nullptr ? string->text : nullptr; }
NvtxObject* nvtx_string_of(const void* handle) {
  if (handle == nullptr) return checked(nullptr, kString);
  return checked(static_cast<const char*>(handle) - offsetof(NvtxObject, text), kString);
}

NvtxObject* nvtx_string_of_number(uint64_t number) {
  for (const ObjectChunk* chunk = g_chunk.load(std::memory_order_acquire); chunk != nullptr; chunk = chunk->before) {
    const auto from = reinterpret_cast<uint64_t>(chunk);
    const uint64_t object = number - offsetof(NvtxObject, text);
    if (object > from && object - from < chunk->size - sizeof(NvtxObject))
      return nvtx_string_of(reinterpret_cast<const void*>(number));
  }
  return nullptr;
}

format::DomainId nvtx_domain_id(NvtxObject* domain) {
  if (domain == nullptr) return {};
  const uint64_t known = domain->defined.load(std::memory_order_relaxed);
  if (known >> 32 == (t_local.epoch & 0xffffffff)) return static_cast<format::DomainId>(known & 0xffffffff);
  const uint32_t id = g_intern.nvtx_domains.intern_lasting(domain->hash, [&](uint32_t fresh) {
    format::NvtxDomainDef definition;
    definition.id = static_cast<format::DomainId>(fresh);
    definition.name = intern_lasting_string(domain->view());
    return define(definition);
  });
  if (id != 0) domain->defined.store(t_local.epoch << 32 | id, std::memory_order_relaxed);
  return static_cast<format::DomainId>(id);
}

std::string_view nvtx_utf8(const wchar_t* text, char* to) {
  size_t size = 0;
  for (; text != nullptr && *text != 0; ++text) {
    const auto code = static_cast<uint32_t>(*text);  // NOLINT(bugprone-signed-char-misuse): wchar_t is no char
    if (size + 4 > format::kMaxTextBytes) {
      count(format::LossCounter::text_cut);
      break;
    }
    size += format::put_utf8(code, to + size);
  }
  return {to, size};
}

}  // namespace prof::preload
