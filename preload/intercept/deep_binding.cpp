#include "preload/intercept/deep_binding.h"

#include "preload/base/elf_dynamic.h"
#include "preload/base/libc.h"
#include "preload/base/loader_call.h"
#include "preload/base/own_library.h"
#include "preload/base/page_size.h"
#include "preload/intercept/hooks.h"
#include "preload/intercept/resolve.h"
#include "preload/record/bypasses.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

extern "C" {
// Weak: test programs have the objects without dlsym.S.
__attribute__((visibility("hidden"), weak)) void* prof_dlsym(void*, const char*);
__attribute__((visibility("hidden"))) extern const char prof_exports_begin[], prof_exports_end[];
}

namespace prof::preload {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kSlotTypes[] = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_64};
#elif defined(__aarch64__)
constexpr uint32_t kSlotTypes[] = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_ABS64};
#endif

struct Binding {
  const void* libc_dlsym[2];
  bool dlsym_first, driver_first;  // a search of the global scope finds libprof.so's function
};

struct Object {
  const dl_phdr_info* info;
  ElfDynamic dynamic;
  uintptr_t relro_begin = 0, relro_end = 0;
  bool past = false, refused = false;

  bool holds(uintptr_t address) const {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& segment = info->dlpi_phdr[i];
      const uintptr_t from = info->dlpi_addr + segment.p_vaddr;
      if (segment.p_type == PT_LOAD && address >= from && address < from + segment.p_memsz) return true;
    }
    return false;
  }
};

// The loader made this range read-only after it had bound the library.
void find_relro(Object& object) {
  const uintptr_t page = page_size();
  for (int i = 0; i < object.info->dlpi_phnum; ++i) {
    const auto& segment = object.info->dlpi_phdr[i];
    if (segment.p_type != PT_GNU_RELRO) continue;
    object.relro_begin = (object.info->dlpi_addr + segment.p_vaddr) & ~(page - 1);
    object.relro_end = (object.info->dlpi_addr + segment.p_vaddr + segment.p_memsz) & ~(page - 1);
  }
}

void set_slot(Object& object, uintptr_t slot, const void* value) {
  const bool read_only = slot >= object.relro_begin && slot < object.relro_end;
  const uintptr_t page = page_size();
  void* const around = reinterpret_cast<void*>(slot & ~(page - 1));
  if (read_only && mprotect(around, page, PROT_READ | PROT_WRITE) != 0) {
    object.refused = true;
    return;
  }
  __atomic_store_n(reinterpret_cast<const void**>(slot), value, __ATOMIC_RELEASE);
  if (read_only) mprotect(around, page, PROT_READ);
}

// What a reference to `name` with this value should have instead; null: it stays. A value inside the library itself is
// the loader's stub of a function that was not called yet. If the global scope has libprof.so's function first, a
// library that was opened in any other way would get that one too.
const void* hook_for(Object& object, const Binding& binding, const char* name, uintptr_t value) {
  const auto decide = [&](bool past, bool first, const void* hook) {
    object.past |= past;
    return past || (first && object.holds(value)) ? hook : nullptr;
  };
  if (std::strcmp(name, "dlsym") == 0) {
    const bool past = value != 0 && (value == reinterpret_cast<uintptr_t>(binding.libc_dlsym[0]) ||
                                     value == reinterpret_cast<uintptr_t>(binding.libc_dlsym[1]));
    return decide(past, binding.dlsym_first, reinterpret_cast<const void*>(prof_dlsym));
  }
  if (name[0] != 'c' || name[1] != 'u' || name[2] < 'A' || name[2] > 'Z') return nullptr;
  const Api* const row = row_of_name(name);
  if (row == nullptr || !resolve_driver()) return nullptr;
  const void* const real = g_driver_rows[index_of(*row)].real.load(std::memory_order_relaxed);
  if (real == nullptr) return nullptr;
  return decide(value == reinterpret_cast<uintptr_t>(real), binding.driver_first, g_hooks[index_of(*row)]);
}

void bind_references(Object& object, const Binding& binding, const ElfW(Rela) * first, size_t bytes) {
  for (size_t i = 0; first != nullptr && i < bytes / sizeof(ElfW(Rela)); ++i) {
    const auto type = static_cast<uint32_t>(ELF64_R_TYPE(first[i].r_info));
    if (type != kSlotTypes[0] && type != kSlotTypes[1] && (type != kSlotTypes[2] || first[i].r_addend != 0)) continue;
    const ElfW(Sym)& symbol = object.dynamic.symbols[ELF64_R_SYM(first[i].r_info)];
    if (symbol.st_shndx != SHN_UNDEF || symbol.st_name == 0) continue;
    const uintptr_t slot = object.info->dlpi_addr + first[i].r_offset;
    const uintptr_t value = __atomic_load_n(reinterpret_cast<const uintptr_t*>(slot), __ATOMIC_ACQUIRE);
    const void* const hook = hook_for(object, binding, object.dynamic.strings + symbol.st_name, value);
    if (hook != nullptr) set_slot(object, slot, hook);
  }
}

// The driver, CUPTI, libc and libprof.so itself call each other directly, as without the recorder.
bool is_left_alone(const Object& object) {
  if (object.holds(reinterpret_cast<uintptr_t>(&prof_bind_deep_objects))) return true;
  const char* const name = object.dynamic.soname != nullptr ? object.dynamic.soname : "";
  for (const char* start : {"libcuda.so", "libcupti.so", "libnvidia-", "libc.so", "libdl.so", "ld-linux"}) {
    if (std::strncmp(name, start, std::strlen(start)) == 0) return true;
  }
  return false;
}

int bind_object(dl_phdr_info* info, size_t, void* argument) {
  const auto& binding = *static_cast<const Binding*>(argument);
  Object object{info, {}};
  if (!read_dynamic(info, object.dynamic) || is_left_alone(object)) return 0;
  const ElfW(Rela)* calls = nullptr, *others = nullptr;
  size_t call_bytes = 0, other_bytes = 0;
  for (const ElfW(Dyn)* entry = object.dynamic.entries; entry->d_tag != DT_NULL; ++entry) {
    const uintptr_t value = entry->d_un.d_ptr, at = value < info->dlpi_addr ? value + info->dlpi_addr : value;
    switch (entry->d_tag) {
      case DT_JMPREL: calls = reinterpret_cast<const ElfW(Rela)*>(at); break;
      case DT_PLTRELSZ: call_bytes = value; break;
      case DT_RELA: others = reinterpret_cast<const ElfW(Rela)*>(at); break;
      case DT_RELASZ: other_bytes = value; break;
      default: break;
    }
  }
  find_relro(object);
  bind_references(object, binding, calls, call_bytes);
  bind_references(object, binding, others, other_bytes);
  const char* const name = info->dlpi_name != nullptr ? info->dlpi_name : "";
  if (object.refused) note_bypass(Bypass::DeepNotBound, {name, std::strlen(name)});
  if (object.past && !object.refused) note_bypass(Bypass::DeepBound, {name, std::strlen(name)});
  return 0;
}

}  // namespace
}  // namespace prof::preload

void prof_bind_deep_objects() {
  using namespace prof::preload;
  const uint32_t opens = __atomic_load_n(&prof_deep_opens, __ATOMIC_ACQUIRE);
  if (inert()) {
    __atomic_store_n(&prof_deep_opens_bound, opens, __ATOMIC_RELEASE);
    return;
  }
  const int saved = errno;
  Binding binding = {};
  binding.libc_dlsym[0] = reinterpret_cast<const void*>(real_dlsym());
  binding.libc_dlsym[1] = real_dlvsym(RTLD_NEXT, "dlsym", PROF_OLDEST_GLIBC);
  if (real_dlsym() != nullptr) {
    const void* const in_scope = real_dlsym()(RTLD_DEFAULT, "cuInit");
    binding.dlsym_first = real_dlsym()(RTLD_DEFAULT, "dlsym") == reinterpret_cast<void*>(prof_dlsym);
    binding.driver_first = in_scope >= prof_exports_begin && in_scope < prof_exports_end;
  }
  visit_objects(bind_object, &binding);
  __atomic_store_n(&prof_deep_opens_bound, opens, __ATOMIC_RELEASE);
  errno = saved;
}
