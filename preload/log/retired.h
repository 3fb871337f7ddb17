// Retired memory, in the sense of epoch-based reclamation: memory of a recording that ended, while another one starts in
// the same process. A thread that was interrupted in the middle of a record still writes to it. So it stays mapped, empty,
// until every thread of that recording has come by again or has ended. Used by the thread that starts a life, one at a
// time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// `life` is the epoch that ended. Private memory gives its pages back at once; pages of the log are replaced by such, so that
// nothing reaches the file any more.
void retire_memory(void* memory, size_t bytes, uint64_t life);
void empty_log_pages(void* memory, size_t bytes);  // and no more: the caller keeps them
void retire_log_pages(void* memory, size_t bytes, uint64_t life);

// Unmaps what no thread can be inside: `has_threads` says whether a life has threads that have not come by since it ended.
void free_retired(bool (*has_threads)(uint64_t life));
// In the child of a fork: none of these threads exists.
void abandon_retired();

}  // namespace prof::preload
