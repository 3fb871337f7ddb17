// Objects that NVTX hands to the program and that must exist as long as the program: domains and registered strings.
// Slow calls make them, in mapped memory that is never freed (and never in the program's heap). Equal contents give the
// same object, so a program that registers in a loop stays small. It runs in the program.
#pragma once

#include "preload/format/ids.h"

#include <atomic>
#include <cstdint>
#include <string_view>

namespace prof::preload {

struct NvtxObject {
  uint64_t magic;                 // distinguishes our handles from others
  uint64_t hash;                  // of the text
  NvtxObject* domain;             // of a registered string; null: the default domain, or the object is a domain
  std::atomic<void*> chained;     // the chained tool's handle of the same object (nvtx_chain.h)
  std::atomic<uint64_t> defined;  // a domain's [32 bits epoch of the recording | 32 bits DomainId]
  uint32_t level_slot;            // a domain's place in the nesting levels of a thread
  uint32_t size;                  // of the text
  uint64_t number;                // of a synchronisation object or resource
  uint64_t named;                 // a resource: format::NamedKind << 32 | NVTX's type
  uint64_t named_object;
  char text[1];  // `size` bytes and a zero

  std::string_view view() const { return {text, size}; }
};

// Zeroed memory that is never freed. Null: there is none.
void* nvtx_allocate(size_t bytes);

NvtxObject* nvtx_domain(std::string_view name);
NvtxObject* nvtx_registered(NvtxObject* domain, std::string_view text);

// Synchronisation objects and named resources. Each call makes a new object, whose text is cut at kMaxNvtxName bytes.
// The memory of a destroyed object is reused for a later one. `number` is never used twice.
inline constexpr size_t kMaxNvtxName = 120;
NvtxObject* nvtx_new_sync(NvtxObject* domain, std::string_view name);
NvtxObject* nvtx_new_resource(NvtxObject* domain, std::string_view name);
NvtxObject* nvtx_sync_of(const void* handle);
NvtxObject* nvtx_resource_of(const void* handle);
void nvtx_destroy(NvtxObject* object);

// The object of a handle. Null (counted): the handle is null or not ours.
NvtxObject* nvtx_domain_of(const void* handle);
NvtxObject* nvtx_string_of(const void* handle);
void* nvtx_string_handle(NvtxObject* string);  // what the program gets: the address of the text
// The same for a number in a payload, which may have any value. Null: it is not in memory of ours.
NvtxObject* nvtx_string_of_number(uint64_t number);

// The id of a domain in this recording's log. The caller is inside a scope. A null domain is the default domain, with
// id 0.
format::DomainId nvtx_domain_id(NvtxObject* domain);

// Writes wchar_t text as UTF-8 into `to`, which must hold kMaxTextBytes. Longer text is cut (counted). Returns the
// written text.
std::string_view nvtx_utf8(const wchar_t* text, char* to);

}  // namespace prof::preload
