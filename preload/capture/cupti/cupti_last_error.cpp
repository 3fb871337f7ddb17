#include "preload/capture/cupti/cupti_last_error.h"

#include "preload/capture/cupti/cupti_front.h"

namespace prof::preload {
namespace {

struct Kept {
  uint16_t ours;   // nested sections of ours
  uint16_t error;  // of the program's last failed call, not read yet
};
constinit thread_local Kept t_kept __attribute__((tls_model("initial-exec"))) = {0, 0};

CUptiResult take_error() {
  return g_cupti.api.cuptiGetLastError != nullptr ? g_cupti.api.cuptiGetLastError() : CUPTI_SUCCESS;
}

void keep_error() {
  if (const CUptiResult error = take_error(); error != CUPTI_SUCCESS) t_kept.error = static_cast<uint16_t>(error);
}

}  // namespace

KeepCuptiError::KeepCuptiError() {
  if (t_kept.ours++ == 0) keep_error();
}

KeepCuptiError::~KeepCuptiError() {
  if (--t_kept.ours == 0) take_error();
}

ProgramCuptiError::ProgramCuptiError() { take_error(); }
ProgramCuptiError::~ProgramCuptiError() { keep_error(); }

CUptiResult cupti_error_for_program(CUptiResult real) {
  const CUptiResult error = real != CUPTI_SUCCESS ? real : static_cast<CUptiResult>(t_kept.error);
  t_kept.error = 0;
  return error;
}

}  // namespace prof::preload
