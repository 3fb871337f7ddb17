// Whose is the last error that CUPTI keeps (cuptiGetLastError)? The program's, as errno is. Our calls on its threads
// leave none: what they leave is read and thrown away, and what the program's own calls had left before is kept for it.
// The stand-in of cuptiGetLastError returns it. All calls of CUPTI on program threads use it.
//
// CUPTI documents one error per thread that a read resets. CUPTI 13.0 has one of the process that stays, and a failed
// call does not set it (measured, an H200). The launch of a graph sets OUT_OF_MEMORY while GPU activity is collected as
// here, although no record is missing.
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

// The other profiler was asked for a buffer and supplied none.
void cupti_client_refuses_buffer();
bool cupti_client_refused_buffer();

// What cuptiGetLastError returns to the program; `real`: what CUPTI's own returned just now. Resets it.
CUptiResult cupti_error_for_program(CUptiResult real);

}  // namespace prof::preload
