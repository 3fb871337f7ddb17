// Functions that name categories, threads and CUDA's objects (nvtx_functions.h).
#include "preload/intercept/nvtx/nvtx_chain.h"
#include "preload/intercept/nvtx/nvtx_functions.h"
#include "preload/intercept/nvtx/nvtx_given_names.h"
#include "preload/intercept/nvtx/nvtx_record.h"
#include "preload/record/thread_local.h"

namespace prof::preload::nvtx_functions {

namespace {

template <class Object> uint64_t object_bits(Object object) {
  if constexpr (std::is_pointer_v<Object>) {
    return reinterpret_cast<uint64_t>(object);
  } else {
    return static_cast<uint64_t>(object);
  }
}

}  // namespace

void NameCategoryA(uint32_t category, const char* name) {
  const KeepErrno keep;
  if (name != nullptr) nvtx_name_category(nullptr, category, name);
  if (g_nvtx_chain.NameCategoryA != nullptr) g_nvtx_chain.NameCategoryA(category, name);
}
void NameCategoryW(uint32_t category, const wchar_t* name) {
  const KeepErrno keep;
  WideBuffer wide;
  nvtx_name_category(nullptr, category, nvtx_utf8(name, wide.bytes));
  if (g_nvtx_chain.NameCategoryW != nullptr) g_nvtx_chain.NameCategoryW(category, name);
}
void NameOsThreadA(uint32_t tid, const char* name) {
  const KeepErrno keep;
  if (name != nullptr) nvtx_name({format::NamedKind::Thread, tid}, name);
  if (g_nvtx_chain.NameOsThreadA != nullptr) g_nvtx_chain.NameOsThreadA(tid, name);
}
void NameOsThreadW(uint32_t tid, const wchar_t* name) {
  const KeepErrno keep;
  WideBuffer wide;
  nvtx_name({format::NamedKind::Thread, tid}, nvtx_utf8(name, wide.bytes));
  if (g_nvtx_chain.NameOsThreadW != nullptr) g_nvtx_chain.NameOsThreadW(tid, name);
}

void DomainNameCategoryA(nvtxDomainHandle_t handle, uint32_t category, const char* name) {
  const KeepErrno keep;
  NvtxObject* const domain = nvtx_domain_of(handle);
  if (name != nullptr) nvtx_name_category(domain, category, name);
  if (g_nvtx_chain.DomainNameCategoryA != nullptr)
    g_nvtx_chain.DomainNameCategoryA(chained_domain(domain), category, name);
}
void DomainNameCategoryW(nvtxDomainHandle_t handle, uint32_t category, const wchar_t* name) {
  const KeepErrno keep;
  WideBuffer wide;
  NvtxObject* const domain = nvtx_domain_of(handle);
  nvtx_name_category(domain, category, nvtx_utf8(name, wide.bytes));
  if (g_nvtx_chain.DomainNameCategoryW != nullptr)
    g_nvtx_chain.DomainNameCategoryW(chained_domain(domain), category, name);
}

// Names of CUDA's objects by handle, in narrow and in wide text. `what` is an enumerator of format::NamedKind.
#define NVTX_NAME(function, what, Object)                                                   \
  void function##A(Object object, const char* name) {                                       \
    const KeepErrno keep;                                                                   \
    if (name != nullptr) nvtx_name({format::NamedKind::what, object_bits(object)}, name);   \
    if (g_nvtx_chain.function##A != nullptr) g_nvtx_chain.function##A(object, name);        \
  }                                                                                         \
  void function##W(Object object, const wchar_t* name) {                                    \
    const KeepErrno keep;                                                                   \
    WideBuffer wide;                                                                        \
    nvtx_name({format::NamedKind::what, object_bits(object)}, nvtx_utf8(name, wide.bytes)); \
    if (g_nvtx_chain.function##W != nullptr) g_nvtx_chain.function##W(object, name);        \
  }
NVTX_NAME(NameCuDevice, Device, nvtx_CUdevice)
NVTX_NAME(NameCuContext, Context, nvtx_CUcontext)
NVTX_NAME(NameCuStream, Stream, nvtx_CUstream)
NVTX_NAME(NameCuEvent, Event, nvtx_CUevent)
NVTX_NAME(NameCudaDevice, Device, int)
NVTX_NAME(NameCudaStream, Stream, nvtx_cudaStream_t)
NVTX_NAME(NameCudaEvent, Event, nvtx_cudaEvent_t)
#undef NVTX_NAME

}  // namespace prof::preload::nvtx_functions
