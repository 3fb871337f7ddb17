// Which machine code do PC samples belong to? CUPTI calls compute_cubin_crc() for each module that is loaded while PC
// sampling is enabled, also one that was compiled at run time, and puts the answer into the samples. The contents are
// copied once into a file without a name in the folder of the log: page cache, not heap. When the recording ends in
// order, those with samples are written beside the log; a file without a name needs no other cleanup.
//
//   crc      what CUPTI computes, or the callback that the program registered. The program cannot see a difference
//   table    open addressing by crc; an entry is taken by compare-and-swap and never removed
//
// It runs in the program: on threads that load modules, without lock and heap, and on the helper thread.
#pragma once

#include "preload/capture/cupti/cupti_headers.h"
#include "preload/format/ids.h"

#include <cstdint>

namespace prof::preload {

// Registers compute_cubin_crc() with CUPTI, once a process. False: CUPTI refused.
bool register_cubin_callback();
bool cubin_callback_registered();
// The callback of the program (CUpti_ComputeCrcCallbackFunc); it decides the checksum from now on.
using ComputeCrc = void(CUPTIAPI*)(const void* cubin, size_t bytes, uint64_t* crc);
void set_program_crc_callback(ComputeCrc callback);

// The id of the cubin that CUPTI names so, defined in this log when it is first requested. Its contents will be kept.
// 0: such a cubin was not seen, or the log is full. Only the thread that reads samples may call it.
format::CubinId cubin_with_samples(uint64_t crc);

// Another recording starts: no cubin has samples in it.
void restart_cubins();
// Writes the contents of those with samples to <log>.cubins (docs/log_format.md), mode 0600. Returns their number.
uint32_t keep_cubins();

}  // namespace prof::preload
