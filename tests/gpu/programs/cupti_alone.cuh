// CUPTI for programs that test CUPTI alone: opened by name, with buffers that are reused. A program lists the functions
// that it calls in CUPTI_FUNCTIONS(F) before it includes this file.
#pragma once

#include <cupti.h>
#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

static struct {
#define F(name) decltype(&::name) name = nullptr;
  CUPTI_FUNCTIONS(F)
#undef F
} g_cupti;

static void open_cupti() {
  const char* const path = getenv("CUPTI_BASELINE_LIB");
  void* const library = dlopen(path != nullptr ? path : "libcupti.so.13", RTLD_NOW);
  if (library == nullptr) std::fprintf(stderr, "%s\n", dlerror()), std::exit(101);
#define F(name) g_cupti.name = reinterpret_cast<decltype(g_cupti.name)>(dlsym(library, #name));
  CUPTI_FUNCTIONS(F)
#undef F
}

static uint64_t CUPTIAPI clock_ns() { return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()); }

static std::mutex g_mutex;  // protects the buffers, and the data that a program computes from them
static std::vector<uint8_t*> g_free;
constexpr size_t kBufferBytes = 1 << 20;

static void CUPTIAPI requested(uint8_t** buffer, size_t* size, size_t* most) {
  *size = kBufferBytes, *most = 0;
  const std::lock_guard<std::mutex> lock(g_mutex);
  if (g_free.empty()) g_free.push_back(static_cast<uint8_t*>(aligned_alloc(4096, kBufferBytes)));
  *buffer = g_free.back();
  g_free.pop_back();
}
