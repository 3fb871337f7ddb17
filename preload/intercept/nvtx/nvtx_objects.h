// Things that NVTX hands to the program and that must live as long as it does: domains and registered strings. They are made
// in slow calls, in mapped memory of ours that is never given back (and never the program's heap). Equal contents give the
// same object, so that a program which registers in a loop stays small. In the program.
#pragma once

#include "preload/format/ids.h"

#include <atomic>
#include <cstdint>
#include <string_view>

namespace prof::preload {

struct NvtxObject {
  uint64_t magic;                 // tells our handles from others'
  uint64_t hash;                  // of the text
  NvtxObject* domain;             // of a registered string; null: the default domain, or this is a domain
  std::atomic<void*> chained;     // the same thing as the chained tool named it (nvtx_chain.h)
  std::atomic<uint64_t> defined;  // a domain's [32 bits life | 32 bits DomainId]
  uint32_t level_slot;            // a domain's place in the nesting levels of a thread
  uint32_t size;                  // of the text
  uint64_t number;                // of a synchronisation object or resource
  uint64_t named;                 // a resource: format::NamedKind << 32 | NVTX's type
  uint64_t named_object;
  char text[1];  // size bytes and a zero

  std::string_view view() const { return {text, size}; }
};

// Zeroed memory that is never given back; null: there is none.
void* nvtx_allocate(size_t bytes);

NvtxObject* nvtx_domain(std::string_view name);
NvtxObject* nvtx_registered(NvtxObject* domain, std::string_view text);

// Synchronisation objects and named resources: each call makes one of its own, its text cut at kMaxNvtxName, and destroying it
// lets a later one have its memory. `number` is never used twice.
inline constexpr size_t kMaxNvtxName = 120;
NvtxObject* nvtx_new_sync(NvtxObject* domain, std::string_view name);
NvtxObject* nvtx_new_resource(NvtxObject* domain, std::string_view name);
NvtxObject* nvtx_sync_of(const void* handle);
NvtxObject* nvtx_resource_of(const void* handle);
void nvtx_destroy(NvtxObject* object);

// The object behind a handle; null (counted) for null and for handles that are not ours.
NvtxObject* nvtx_domain_of(const void* handle);
NvtxObject* nvtx_string_of(const void* handle);
// The same for a number found in a payload, which may be anything: null unless it lies in memory of ours.
NvtxObject* nvtx_string_of_number(uint64_t number);

// The id of a domain in this life's log; the caller is inside a scope. Null is the default domain, 0.
format::DomainId nvtx_domain_id(NvtxObject* domain);

// wchar_t text as UTF-8 into `to`, cut (counted) at kMaxTextBytes, which `to` must hold; returns the bytes.
std::string_view nvtx_utf8(const wchar_t* text, char* to);

}  // namespace prof::preload
