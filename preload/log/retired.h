// When can memory of a recording that ended be unmapped, while another one starts in the same process? This is
// epoch-based reclamation. A thread that was interrupted inside a record still writes to that memory. So it stays
// mapped, empty, until every thread of that recording has called a hook again or has ended. Only the thread that starts
// a recording uses it, one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// `life` is the epoch that ended. Private memory returns its pages to the kernel at once. Pages of the log are replaced
// by private pages, so that nothing more reaches the file. `memory` is what LogFile::extend() returned: its page is its
// own, even where it does not begin with a page.
void retire_memory(void* memory, size_t bytes, uint64_t life);
void empty_log_pages(void* memory, size_t bytes);  // only that: the caller keeps the pages
void retire_log_pages(void* memory, size_t bytes, uint64_t life);

// Unmaps memory that no thread can be using. `has_threads` returns whether a recording has threads that called no hook
// since it ended.
void free_retired(bool (*has_threads)(uint64_t life));
// In the child of a fork: none of these threads exists.
void abandon_retired();

}  // namespace prof::preload
