#include "preload/capture/cupti/cupti_last_error.h"

#include "preload/capture/cupti/cupti_front.h"

#include <atomic>

namespace prof::preload {
namespace {

struct Kept {
  uint16_t ours;   // nested sections of ours
  uint16_t error;  // of the program's last failed call, not read yet
};
constinit thread_local Kept t_kept __attribute__((tls_model("initial-exec"))) = {0, 0};

std::atomic<bool> g_refused_buffer{false};
std::atomic<uint32_t> g_stays{CUPTI_SUCCESS};  // an error of ours that reading did not reset

// Not in the child of a fork, where any call of CUPTI may end the process.
CUptiResult read_error() {
  const bool there = g_cupti.api.cuptiGetLastError != nullptr && !cupti_front_abandoned();
  return there ? g_cupti.api.cuptiGetLastError() : CUPTI_SUCCESS;
}

bool is_ours(CUptiResult error) { return error == static_cast<CUptiResult>(g_stays.load(std::memory_order_relaxed)); }

void keep_error() {
  const CUptiResult error = read_error();
  if (error != CUPTI_SUCCESS && !is_ours(error)) t_kept.error = static_cast<uint16_t>(error);
}

void drop_error() {
  const CUptiResult error = read_error();
  if (error != CUPTI_SUCCESS && error == read_error())
    g_stays.store(static_cast<uint32_t>(error), std::memory_order_relaxed);
}

// The buffers are ours. The other profiler would not be without memory, unless it did not supply a buffer.
bool of_our_buffers(CUptiResult error) { return error == CUPTI_ERROR_OUT_OF_MEMORY && !cupti_client_refused_buffer(); }

}  // namespace

void cupti_client_refuses_buffer() { g_refused_buffer.store(true, std::memory_order_relaxed); }
bool cupti_client_refused_buffer() { return g_refused_buffer.load(std::memory_order_relaxed); }

KeepCuptiError::KeepCuptiError() {
  if (t_kept.ours++ == 0) keep_error();
}

KeepCuptiError::~KeepCuptiError() {
  if (--t_kept.ours == 0) drop_error();
}

ProgramCuptiError::ProgramCuptiError() { drop_error(); }
ProgramCuptiError::~ProgramCuptiError() { keep_error(); }

CUptiResult cupti_error_for_program(CUptiResult real) {
  const CUptiResult error = real != CUPTI_SUCCESS && !is_ours(real) ? real : static_cast<CUptiResult>(t_kept.error);
  t_kept.error = 0;
  return of_our_buffers(error) ? CUPTI_SUCCESS : error;
}

}  // namespace prof::preload
