// Results of dlsym with RTLD_NEXT and RTLD_DEFAULT, dlopen with RTLD_DEEPBIND, dlmopen, dlclose, dladdr and dlerror.
#include <dlfcn.h>
#include <link.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static const char* base(const char* path) {
  const char* const slash = path != nullptr ? strrchr(path, '/') : nullptr;
  return slash != nullptr ? slash + 1 : path != nullptr ? path : "none";
}

static void where(const char* what, void* address) {
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0) {
    std::printf("%s: not found\n", what);
    return;
  }
  std::printf("%s: %s in %s\n", what, info.dli_sname != nullptr ? info.dli_sname : "?", base(info.dli_fname));
}

extern "C" __attribute__((visibility("default"))) int puts(const char* text) {
  using Puts = int (*)(const char*);
  const Puts next = reinterpret_cast<Puts>(dlsym(RTLD_NEXT, "puts"));
  std::printf("ours: ");
  return next(text);
}

int main() {
  puts("through RTLD_NEXT");
  where("next malloc", dlsym(RTLD_NEXT, "malloc"));
  where("default malloc", dlsym(RTLD_DEFAULT, "malloc"));
  where("next main", dlsym(RTLD_NEXT, "main"));
  where("default puts", dlsym(RTLD_DEFAULT, "puts"));
  where("cudaMalloc", dlsym(RTLD_DEFAULT, "cudaMalloc"));
  where("cuInit", dlsym(RTLD_DEFAULT, "cuInit"));
  where("nothing", dlsym(RTLD_DEFAULT, "there_is_no_such_function"));
  // The message names the calling object, and must not name another one.
  const char* const error = dlerror();
  std::printf("error: %s\n", error != nullptr ? base(error) : "none");
  std::printf("then: %s\n", dlerror() == nullptr ? "none" : "again");
  void* const deep = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (deep == nullptr) return 1;
  where("deep crc32", dlsym(deep, "crc32"));
  where("default crc32", dlsym(RTLD_DEFAULT, "crc32"));
  std::printf("close %d, loaded still %d\n", dlclose(deep), dlopen("libz.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr);
  void* const other = dlmopen(LM_ID_NEWLM, "libz.so.1", RTLD_NOW);
  if (other == nullptr) return 2;
  where("other namespace's crc32", dlsym(other, "crc32"));
  int objects = 0;
  link_map* map = nullptr;
  if (dlinfo(other, RTLD_DI_LINKMAP, &map) != 0) return 3;
  while (map->l_prev != nullptr) map = map->l_prev;
  for (; map != nullptr; map = map->l_next, ++objects) std::printf("  %s\n", base(map->l_name));
  std::printf("%d objects, close %d\n", objects, dlclose(other));
  std::printf("bad handle: %d\n", dlclose(dlopen(nullptr, RTLD_NOW)));
}
