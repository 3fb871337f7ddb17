#include "preload/capture/cupti/cupti_library.h"

#include "preload/base/environment.h"
#include "preload/base/libc.h"
#include "preload/base/loader_call.h"

#include <link.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace prof::preload {

namespace {

constexpr uint32_t kMaxFolders = 8;

// A text of fixed size. A longer text is cut; the path then cannot be opened.
class PathBuilder {
 public:
  explicit PathBuilder(char (&to)[kPathBytes]) : to_(to) { to_[0] = 0; }
  PathBuilder& add(const char* text) { return add(text, std::strlen(text)); }
  PathBuilder& add(const char* text, size_t size) {
    if (size > kPathBytes - 1 - used_) size = kPathBytes - 1 - used_;
    std::memcpy(to_ + used_, text, size);
    used_ += size;
    to_[used_] = 0;
    return *this;
  }

 private:
  char* to_;
  size_t used_ = 0;
};

const char* file_name(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

bool starts_with(const char* text, const char* prefix) { return std::strncmp(text, prefix, std::strlen(prefix)) == 0; }

// What the loader has mapped of CUDA: libcupti itself, and folders of CUDA libraries (pip keeps CUPTI near them).
struct Loaded {
  char cupti[kPathBytes];
  uint32_t cuptis;
  char folders[kMaxFolders][kPathBytes];
  uint32_t folder_count;
  bool folders_of_cudart_only;
};

int visit_object(dl_phdr_info* info, size_t, void* loaded_argument) {
  auto& loaded = *static_cast<Loaded*>(loaded_argument);
  if (info->dlpi_name == nullptr || info->dlpi_name[0] != '/') return 0;
  const char* const name = file_name(info->dlpi_name);
  if (starts_with(name, "libcupti.so")) {
    if (loaded.cuptis++ == 0) PathBuilder(loaded.cupti).add(info->dlpi_name);
    return 0;
  }
  const bool cudart = starts_with(name, "libcudart.so");
  if (cudart != loaded.folders_of_cudart_only) return 0;
  if (!cudart && !starts_with(name, "libcublas") && !starts_with(name, "libcudnn") && !starts_with(name, "libtorch") &&
      !starts_with(name, "libnvrtc") && !starts_with(name, "libnccl")) {
    return 0;
  }
  if (loaded.folder_count == kMaxFolders) return 0;
  char(&folder)[kPathBytes] = loaded.folders[loaded.folder_count];
  PathBuilder(folder).add(info->dlpi_name, static_cast<size_t>(name - info->dlpi_name));
  for (uint32_t i = 0; i < loaded.folder_count; ++i) {
    if (std::strcmp(loaded.folders[i], folder) == 0) return 0;
  }
  ++loaded.folder_count;
  return 0;
}

// Sonames by CUDA major version, newest first. CUDA 11 put the minor version into it, newest first again.
struct Soname {
  uint32_t major;
  const char* name;
};
constexpr Soname kSonames[] = {
    {13, "libcupti.so.13"},   {12, "libcupti.so.12"},   {11, "libcupti.so.11.8"}, {11, "libcupti.so.11.7"},
    {11, "libcupti.so.11.6"}, {11, "libcupti.so.11.5"}, {11, "libcupti.so.11.4"}, {11, "libcupti.so.11.3"},
    {11, "libcupti.so.11.2"}, {11, "libcupti.so.11.1"}, {11, "libcupti.so.11.0"},
};

class Search {
 public:
  Search(int driver_version, CuptiLibrary& into)
      : driver_major_(static_cast<uint32_t>(driver_version / 1000)), into_(into) {}

  // Opens exactly this file. False: `reason` contains the cause, and nothing of the file stays loaded.
  bool file(const char* path, const char* how, int flags) {
    if (real_dlopen() == nullptr) return refuse("the process has no dlopen", "", "");
    const LoaderCall inside;
    void* const handle = real_dlopen()(path, RTLD_NOW | RTLD_LOCAL | flags);
    if (handle == nullptr) {
      const char* const error = prof_libc_dlerror != nullptr ? prof_libc_dlerror() : nullptr;
      return refuse(error != nullptr ? error : "dlopen failed", "", "");
    }
    if (adopt(handle, path, how)) return true;
    real_dlclose(handle);
    return false;
  }

  // Tries every soname that this driver can work with, in `folder`, which ends with '/'. Empty: wherever the loader
  // searches.
  bool folder(const char* folder, const char* inside, const char* how) {
    char path[kPathBytes];
    const uint32_t newest = driver_major_ > kSonames[0].major ? driver_major_ : 0;
    if (newest != 0) {  // a driver newer than this table: its own CUPTI first
      char soname[] = "libcupti.so.00";
      soname[sizeof(soname) - 3] = static_cast<char>('0' + newest / 10 % 10);
      soname[sizeof(soname) - 2] = static_cast<char>('0' + newest % 10);
      PathBuilder(path).add(folder).add(inside).add(soname);
      if (file(path, how, 0)) return true;
    }
    for (const Soname& soname : kSonames) {
      if (soname.major > driver_major_) continue;
      PathBuilder(path).add(folder).add(inside).add(soname.name);
      if (file(path, how, 0)) return true;
    }
    return false;
  }

 private:
  bool adopt(void* handle, const char* path, const char* how) {
    const DlsymFunction find = real_dlsym();
    if (find == nullptr) return refuse("the process has no dlsym", "", "");
    Cupti api;
    const char* missing = nullptr;
    const auto resolve = [&](auto& member, const char* name, CuptiNeed need) {
      member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(find(handle, name));
      if (member == nullptr && need == CuptiNeed::Needed) missing = name;
    };
#define PROF_CUPTI_FUNCTION(name, need) resolve(api.name, #name, CuptiNeed::need);
#include "preload/capture/cupti/cupti_functions.def"
#undef PROF_CUPTI_FUNCTION
    if (missing != nullptr) return refuse(path, ": no function ", missing);
    uint32_t version = 0;
    if (api.cuptiGetVersion(&version) != CUPTI_SUCCESS) return refuse(path, ": cuptiGetVersion failed", "");
    const uint32_t major = cupti_major(version);
    if (major == 0) return refuse(path, ": CUPTI of CUDA 10 or older", "");
    if (major > driver_major_) return refuse(path, ": a newer CUDA than the driver's", "");
    into_.api = api;
    into_.version = version;
    into_.how = how;
    into_.reason[0] = 0;
    // The loader may have found it in its cache: query the path.
    Dl_info info{};
    const void* const inside = reinterpret_cast<const void*>(api.cuptiGetVersion);
    const bool known = prof_libc_dladdr != nullptr && prof_libc_dladdr(inside, &info) != 0 && info.dli_fname != nullptr;
    PathBuilder(into_.path).add(known ? info.dli_fname : path);
    return true;
  }
  bool refuse(const char* a, const char* b, const char* c) {
    set_reason(into_, {a, b, c});
    return false;
  }

  uint32_t driver_major_;
  CuptiLibrary& into_;
};

// pip: …/site-packages/nvidia/<package>/lib/libX.so, and …/site-packages/torch/lib/libtorch*.so beside nvidia/.
bool search_near(Search& search, const Loaded& loaded, const char* beside) {
  static constexpr const char* kInside[] = {"../../cuda_cupti/lib/",        "../../cu13/lib/",
                                            "../../nvidia/cuda_cupti/lib/", "../../nvidia/cu13/lib/",
                                            "../extras/CUPTI/lib64/",       "../../extras/CUPTI/lib64/"};
  for (uint32_t i = 0; i < loaded.folder_count; ++i) {
    if (search.folder(loaded.folders[i], "", beside)) return true;
  }
  for (uint32_t i = 0; i < loaded.folder_count; ++i) {
    for (const char* inside : kInside) {
      if (search.folder(loaded.folders[i], inside, "installed near the loaded CUDA libraries")) return true;
    }
  }
  return false;
}

bool search_all(Search& search, const char* named, CuptiLibrary& into) {
  static Loaded loaded;  // 10 KiB: too much for a program's stack; one thread searches at a time
  loaded = {};
  loaded.folders_of_cudart_only = true;
  visit_objects(visit_object, &loaded);
  // If the process uses a CUPTI already, a second one would break it: use that one, or none.
  if (loaded.cuptis != 0) return search.file(loaded.cupti, "already loaded", RTLD_NOLOAD);
  if (named[0] != 0) return search.file(named, "PROF_CUPTI", 0);
  if (search_near(search, loaded, "beside the loaded libcudart")) return true;
  loaded = {};
  visit_objects(visit_object, &loaded);
  if (search_near(search, loaded, "beside a loaded CUDA library")) return true;
  const char* const home = environment_variable("CUDA_HOME");
  if (home != nullptr && home[0] == '/') {
    if (search.folder(home, "/extras/CUPTI/lib64/", "in CUDA_HOME")) return true;
    if (search.folder(home, "/lib64/", "in CUDA_HOME")) return true;
  }
  if (search.folder("", "", "by the loader's search")) return true;
  if (search.folder("/usr/local/cuda/", "extras/CUPTI/lib64/", "in /usr/local/cuda")) return true;
  if (search.folder("/usr/local/cuda/", "lib64/", "in /usr/local/cuda")) return true;
  PathBuilder(into.reason).add("no libcupti.so found for this driver");
  return false;
}

}  // namespace

bool adopt_cupti_around(const void* function, CuptiLibrary& into) {
  const int saved = errno;
  Dl_info info{};
  constexpr int kAnyDriver = INT_MAX;
  const bool found = prof_libc_dladdr != nullptr && prof_libc_dladdr(function, &info) != 0 &&
                     info.dli_fname != nullptr &&
                     Search(kAnyDriver, into).file(info.dli_fname, "used by the program", RTLD_NOLOAD);
  errno = saved;
  return found;
}

void set_reason(CuptiLibrary& into, std::initializer_list<const char*> parts) {
  PathBuilder reason(into.reason);
  for (const char* part : parts) reason.add(part);
}

bool find_cupti(const char* named, int driver_version, CuptiLibrary& into) {
  const int saved = errno;
  Search search(driver_version, into);
  const bool found = search_all(search, named, into);
  errno = saved;
  return found;
}

}  // namespace prof::preload
