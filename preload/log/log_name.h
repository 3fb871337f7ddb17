// What is the path of the log? LogFile::create() computes it once per recording.
#pragma once

#include <cstddef>
#include <string_view>

namespace prof::preload {

// The rank that a usual launcher (torchrun, MPI, PMI, Slurm) gave this process, and the number of ranks. Empty if no
// launcher gave one.
std::string_view launcher_rank();
std::string_view launcher_size();

// Writes the path for try number `attempt` (1, 2, …) to `path`; the second try adds "-2" before ".plog". `given` is
// PROF_OUTPUT; it is below `folder` if that is not empty. A text with '%' or ending in ".plog" is a pattern of a file
// name; any other text is a folder. Returns false if the path is longer than `capacity` bytes.
//   %p pid   %h host   %r rank (of the usual launchers, "0" without one)   %t seconds since 1970   %% percent sign
bool make_log_name(char* path, size_t capacity, std::string_view folder, std::string_view given, unsigned attempt);

}  // namespace prof::preload
