// PROF_SIGBUS=1: the program survives that somebody truncates its log. A store to a mapped page behind the end of its file is a SIGBUS;
// a handler for the log's own pages puts private memory there, and hands every other SIGBUS on to whoever handled it before.
// Off by default: a handler is something that the program can see.
#pragma once

#include <cstdint>

namespace prof::preload {

// Installs the handler, once a process. A program that sets one of its own later takes ours away.
void survive_truncation();

// A stretch of the log was mapped; one that is not known is not guarded.
void guard_mapping(const void* base, uint64_t bytes);

// Child of a fork: the parent's stretches are not ours to write.
void abandon_guarded_mappings();

}  // namespace prof::preload
