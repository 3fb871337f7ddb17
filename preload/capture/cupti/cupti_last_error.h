// Whose is the last error that CUPTI keeps for each thread (cuptiGetLastError)? The program's, as errno is. Our calls on
// its threads leave none: what they leave is read and thrown away, and what the program's own calls had left before is
// kept for it. The stand-in of cuptiGetLastError returns it. All calls of CUPTI on program threads use it.
#pragma once

#include "preload/capture/cupti/cupti_headers.h"

namespace prof::preload {

// Around calls of ours. May be nested.
class KeepCuptiError {
 public:
  KeepCuptiError();
  ~KeepCuptiError();
  KeepCuptiError(const KeepCuptiError&) = delete;
  KeepCuptiError& operator=(const KeepCuptiError&) = delete;
};

// Around a call of the program's callback inside of calls of ours: it finds none of our errors, and its own ones stay.
class ProgramCuptiError {
 public:
  ProgramCuptiError();
  ~ProgramCuptiError();
  ProgramCuptiError(const ProgramCuptiError&) = delete;
  ProgramCuptiError& operator=(const ProgramCuptiError&) = delete;
};

// What cuptiGetLastError returns to the program; `real`: what CUPTI's own returned just now. Resets it.
CUptiResult cupti_error_for_program(CUptiResult real);

}  // namespace prof::preload
