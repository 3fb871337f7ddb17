// What the log is called. Called once per life by LogFile::create.
#pragma once

#include <cstddef>
#include <string_view>

namespace prof::preload {

// The rank that the usual launchers give a process (torchrun, MPI, PMI, Slurm), and of how many; empty: none did.
std::string_view launcher_rank();
std::string_view launcher_size();

// Writes the path for try number `attempt` (1, 2, …; the second gives "-2" before ".plog") of PROF_OUTPUT `output`, which is below
// `folder` if that is not empty.
// A text with '%' or ending in ".plog" is a file name pattern, anything else a folder. False: longer than `capacity`.
//   %p pid   %h host   %r rank (of the usual launchers, "0" without)   %t seconds since 1970   %% percent sign
bool make_log_name(char* path, size_t capacity, std::string_view folder, std::string_view given, unsigned attempt);

}  // namespace prof::preload
