// Offline. What is this file, if it is not one of our logs? Looks at its contents, never at its name. Used by `prof check`.
#pragma once

#include <string>

namespace prof::analyzer {

// "a torch.profiler (Kineto) trace, gzip JSON", "a Nsight Systems SQLite export", …; empty: no idea, or not readable.
std::string sniff_foreign_file(const std::string& path);

}  // namespace prof::analyzer
