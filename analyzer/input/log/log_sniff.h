// Offline. What is a file that is no log? Decided by its contents, never by its name. Used by `prof check`.
#pragma once

#include <string>

namespace prof::analyzer {

// "a torch.profiler (Kineto) trace, gzip JSON", "a Nsight Systems SQLite export", …; empty: unknown, or unreadable.
std::string sniff_foreign_file(const std::string& path);

}  // namespace prof::analyzer
