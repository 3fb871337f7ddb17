// Can the program that is about to be started load libprof.so? Most programs can, or ignore LD_PRELOAD, or load the
// library and it does nothing there (another libc). Two kinds cannot.
// This code runs between fork or vfork and exec, and in signal handlers: only openat, pread64, newfstatat and close, no
// allocation, no lock, no libc function that keeps state, errno unchanged. The program's loader makes the same calls.
#pragma once

#include <cstdint>

namespace prof::preload {

enum class ExecTarget : uint8_t {
  Any,            // everything else, and whatever is in doubt: a file that cannot be read, an unknown format
  OtherMachine,   // its loader is of another word size or processor, and complains about the library on stderr
  SanitizerFirst  // gcc's AddressSanitizer is its first library, and ends the program if another one is preloaded
};

// `path` relative to the folder `folder` (AT_FDCWD: the working folder). A script's interpreter is looked at instead of
// the script.
ExecTarget look_at_file(int folder, const char* path);

// An open file. Its offset is not changed.
ExecTarget look_at_descriptor(int fd);

// The program that execvp() would start: `file` is searched in `search` (the value of PATH; null: the default) if it
// contains no slash. `only_absolute`: a relative path is in doubt, because the working folder will be another one.
ExecTarget look_at_command(const char* file, const char* search, bool only_absolute);

}  // namespace prof::preload
