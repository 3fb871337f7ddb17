// Modules, libraries, functions, kernels and their names. Any image is accepted: a function exists as soon as it is
// requested, unless its name starts with "missing". Its cubin is the text of the image. An image that is no text has
// "image N": the Nth such address.
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tests/sim/api_call.h"
#include "tests/sim/capture.h"
#include "tests/sim/device.h"
#include "tests/sim/objects.h"

namespace sim {
namespace {

// The images that are loaded, by slot. Guarded by the mutex of the device.
std::vector<Image*>& slots() {
  static auto* const one = new std::vector<Image*>;
  return *one;
}

// The address may be anything: it is read through the kernel.
std::string text_of(const void* image) {
  char text[4097] = "";
  const iovec to{text, sizeof text - 1}, from{const_cast<void*>(image), sizeof text - 1};
  ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
  if (got <= 0) {
    const size_t left = 4096 - reinterpret_cast<uintptr_t>(image) % 4096;  // up to the end of the page
    const iovec page_to{text, left}, page_from{const_cast<void*>(image), left};
    got = process_vm_readv(getpid(), &page_to, 1, &page_from, 1, 0);
  }
  const std::string_view read(text, got > 0 ? static_cast<size_t>(got) : 0);
  const size_t end = read.find('\0');
  const std::string_view found = read.substr(0, end);
  const auto printable = [](char c) { return (c >= ' ' && c <= '~') || c == '\n'; };
  if (!found.empty() && std::all_of(found.begin(), found.end(), printable)) return std::string(found);
  static auto* const known = new std::vector<const void*>;
  Lock lock(device_mutex());
  const auto there = std::find(known->begin(), known->end(), image);
  const size_t number = static_cast<size_t>(there - known->begin());
  if (there == known->end()) known->push_back(image);
  return "image " + std::to_string(number + 1);
}

ModuleRecord record_of(const Image& image) {
  return {image.slot, image.is_library ? nullptr : handle_of<CUcontext>(image.context), image.cubin};
}

Image* make_image(bool library) {
  Image* one = new Image;
  one->context = current_context();
  one->is_library = library;
  return one;
}

// With its code, which CUPTI sees.
Image* load_image(bool library, const void* image) {
  Image* const one = make_image(library);
  one->cubin = text_of(image);
  {
    Lock lock(device_mutex());
    const auto free_slot = std::find(slots().begin(), slots().end(), nullptr);
    one->slot = static_cast<uint32_t>(free_slot - slots().begin());
    if (free_slot == slots().end()) slots().push_back(nullptr);
    slots()[one->slot] = one;
  }
  if (ActivitySink* const sink = activity_sink(); sink != nullptr) sink->module_loaded(record_of(*one));
  return one;
}

Function* function_in(Image* image, const char* name, bool kernel) {
  Lock lock(device_mutex());
  Function*& one = image->functions[name];
  if (one == nullptr) {
    one = new Function;
    one->name = intern(name);
    one->image = image;
    one->told = &script().kernel(name);
    one->is_kernel = kernel;
  }
  return one;
}

bool exists(const char* name) { return strncmp(name, "missing", 7) != 0; }

CUresult load_module(CUmodule* module, const void* image) {
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (module == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult refused = allow_unsafe_call()) return refused;
  *module = handle_of<CUmodule>(load_image(false, image));
  return CUDA_SUCCESS;
}

CUresult load_library(CUlibrary* library, const void* image) {
  if (library == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *library = handle_of<CUlibrary>(load_image(true, image));
  return CUDA_SUCCESS;
}

void unload(Image* image) {
  Lock lock(device_mutex());
  slots()[image->slot] = nullptr;
  for (const auto& [name, one] : image->functions) delete one;
  for (const auto& [name, address] : image->globals) free(reinterpret_cast<void*>(address));
  if (image->module != nullptr) {
    for (const auto& [name, one] : image->module->functions) delete one;
    delete image->module;
  }
  delete image;
}

CUresult global(CUdeviceptr* dptr, size_t* bytes, Image* image, const char* name) {
  constexpr size_t kGlobalBytes = 4096;
  if (!exists(name)) return CUDA_ERROR_NOT_FOUND;
  Lock lock(device_mutex());
  CUdeviceptr& address = image->globals[name];
  if (address == 0) address = reinterpret_cast<CUdeviceptr>(calloc(1, kGlobalBytes));
  if (dptr != nullptr) *dptr = address;
  if (bytes != nullptr) *bytes = kGlobalBytes;
  return CUDA_SUCCESS;
}

CUresult attribute(int* value, CUfunction_attribute which, const Function& function) {
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 1024; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = function.told->static_shared; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = function.told->registers; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = 90; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = function.max_dynamic_shared != 0 ? function.max_dynamic_shared : 49152;
      break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = function.carveout; break;
    default: *value = 0;
  }
  return CUDA_SUCCESS;
}

CUresult set_attribute(Function& function, CUfunction_attribute which, int value) {
  if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) function.max_dynamic_shared = value;
  if (which == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) function.carveout = value;
  return CUDA_SUCCESS;
}

template <class Handle> CUresult enumerate(Handle* out, unsigned count, Image* image) {
  Lock lock(device_mutex());
  unsigned filled = 0;
  for (const auto& [name, one] : image->functions) {
    if (filled < count) out[filled++] = handle_of<Handle>(one);
  }
  return CUDA_SUCCESS;
}

}  // namespace

std::vector<ModuleRecord> loaded_modules() {
  Lock lock(device_mutex());
  std::vector<ModuleRecord> all;
  for (const Image* const one : slots()) {
    if (one != nullptr) all.push_back(record_of(*one));
  }
  return all;
}

uint32_t slot_of(const Function& function) {
  const Image* const image = function.image;
  if (image == nullptr) return 0;
  if (image->cubin.empty()) {  // the module of a library
    for (const Image* const one : slots()) {
      if (one != nullptr && one->module == image) return one->slot;
    }
  }
  return image->slot;
}

}  // namespace sim

SIM_API(cuModuleLoad)(CUmodule* module, const char* fname) { return load_module(module, fname); }
SIM_API(cuModuleLoadData)(CUmodule* module, const void* image) { return load_module(module, image); }
SIM_API(cuModuleLoadDataEx)(CUmodule* module, const void* image, unsigned int, CUjit_option*, void**) {
  return load_module(module, image);
}
SIM_API(cuModuleLoadFatBinary)(CUmodule* module, const void* fatCubin) { return load_module(module, fatCubin); }

SIM_API(cuModuleUnload)(CUmodule hmod) {
  if (hmod == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult refused = allow_unsafe_call()) return refused;
  unload(object<Image>(hmod));
  return CUDA_SUCCESS;
}

SIM_API(cuModuleGetLoadingMode)(CUmoduleLoadingMode* mode) {
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

SIM_API(cuModuleGetFunction)(CUfunction* hfunc, CUmodule hmod, const char* name) {
  if (hfunc == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (hmod == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!exists(name)) return CUDA_ERROR_NOT_FOUND;
  *hfunc = handle_of<CUfunction>(function_in(object<Image>(hmod), name, false));
  return CUDA_SUCCESS;
}

SIM_API(cuModuleGetFunctionCount)(unsigned int* count, CUmodule mod) {
  *count = static_cast<unsigned>(object<Image>(mod)->functions.size());
  return CUDA_SUCCESS;
}
SIM_API(cuModuleEnumerateFunctions)(CUfunction* functions, unsigned int numFunctions, CUmodule mod) {
  return enumerate(functions, numFunctions, object<Image>(mod));
}
SIM_API(cuModuleGetGlobal_v2)(CUdeviceptr* dptr, size_t* bytes, CUmodule hmod, const char* name) {
  return global(dptr, bytes, object<Image>(hmod), name);
}

SIM_API(cuLibraryLoadData)
(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned int, CUlibraryOption*, void**, unsigned int) {
  return load_library(library, code);
}
SIM_API(cuLibraryLoadFromFile)
(CUlibrary* library, const char* fileName, CUjit_option*, void**, unsigned int, CUlibraryOption*, void**,
 unsigned int) {
  return load_library(library, fileName);
}
SIM_API(cuLibraryUnload)(CUlibrary library) {
  if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  unload(object<Image>(library));
  return CUDA_SUCCESS;
}
SIM_API(cuLibraryGetKernel)(CUkernel* pKernel, CUlibrary library, const char* name) {
  if (pKernel == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!exists(name)) return CUDA_ERROR_NOT_FOUND;
  *pKernel = handle_of<CUkernel>(function_in(object<Image>(library), name, true));
  return CUDA_SUCCESS;
}
SIM_API(cuLibraryGetKernelCount)(unsigned int* count, CUlibrary lib) {
  *count = static_cast<unsigned>(object<Image>(lib)->functions.size());
  return CUDA_SUCCESS;
}
SIM_API(cuLibraryEnumerateKernels)(CUkernel* kernels, unsigned int numKernels, CUlibrary lib) {
  return enumerate(kernels, numKernels, object<Image>(lib));
}
SIM_API(cuLibraryGetModule)(CUmodule* pMod, CUlibrary library) {
  Image* image = object<Image>(library);
  if (image->module == nullptr) image->module = make_image(false);
  *pMod = handle_of<CUmodule>(image->module);
  return CUDA_SUCCESS;
}
SIM_API(cuLibraryGetGlobal)(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name) {
  return global(dptr, bytes, object<Image>(library), name);
}
SIM_API(cuLibraryGetManaged)(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name) {
  return global(dptr, bytes, object<Image>(library), name);
}

SIM_API(cuKernelGetFunction)(CUfunction* pFunc, CUkernel kernel) {
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const Function* function = object<Function>(kernel);
  CUmodule module = nullptr;
  impl_cuLibraryGetModule(&module, handle_of<CUlibrary>(function->image));
  *pFunc = handle_of<CUfunction>(function_in(object<Image>(module), function->name, false));
  return CUDA_SUCCESS;
}
SIM_API(cuKernelGetLibrary)(CUlibrary* pLib, CUkernel kernel) {
  *pLib = handle_of<CUlibrary>(object<Function>(kernel)->image);
  return CUDA_SUCCESS;
}
SIM_API(cuKernelGetName)(const char** name, CUkernel hfunc) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (hfunc == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *name = object<Function>(hfunc)->name;
  return CUDA_SUCCESS;
}
SIM_API(cuKernelGetAttribute)(int* pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice) {
  return attribute(pi, attrib, *object<Function>(kernel));
}
SIM_API(cuKernelSetAttribute)(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice) {
  return set_attribute(*object<Function>(kernel), attrib, val);
}
SIM_API(cuKernelSetCacheConfig)(CUkernel, CUfunc_cache, CUdevice) { return CUDA_SUCCESS; }
SIM_API(cuKernelGetParamInfo)(CUkernel, size_t, size_t*, size_t*) { return CUDA_ERROR_INVALID_VALUE; }

SIM_API(cuFuncGetName)(const char** name, CUfunction hfunc) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (hfunc == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *name = object<Function>(hfunc)->name;
  return CUDA_SUCCESS;
}
SIM_API(cuFuncGetModule)(CUmodule* hmod, CUfunction hfunc) {
  if (hfunc == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Image* image = object<Function>(hfunc)->image;
  if (image->is_library) return impl_cuLibraryGetModule(hmod, handle_of<CUlibrary>(image));
  *hmod = handle_of<CUmodule>(image);
  return CUDA_SUCCESS;
}
SIM_API(cuFuncGetAttribute)(int* pi, CUfunction_attribute attrib, CUfunction hfunc) {
  if (hfunc == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return attribute(pi, attrib, *object<Function>(hfunc));
}
SIM_API(cuFuncSetAttribute)(CUfunction hfunc, CUfunction_attribute attrib, int value) {
  if (hfunc == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return set_attribute(*object<Function>(hfunc), attrib, value);
}
SIM_API(cuFuncSetCacheConfig)(CUfunction, CUfunc_cache) { return CUDA_SUCCESS; }
SIM_API(cuFuncSetSharedMemConfig)(CUfunction, CUsharedconfig) { return CUDA_SUCCESS; }
SIM_API(cuFuncGetParamInfo)(CUfunction, size_t, size_t*, size_t*) { return CUDA_ERROR_INVALID_VALUE; }
SIM_API(cuFuncLoad)(CUfunction) { return CUDA_SUCCESS; }
SIM_API(cuFuncIsLoaded)(CUfunctionLoadingState* state, CUfunction) {
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CUDA_SUCCESS;
}
