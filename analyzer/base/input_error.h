// The error for an input that cannot be used at all.
#pragma once

#include <new>
#include <stdexcept>
#include <string>

namespace prof::analyzer {

// what() has the name of the file, the position if there is one, and what to do.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs `read`, which reads the file. If it needs more memory than there is, the error has the name of the file.
template <class Read> auto reading_file(const std::string& path, Read&& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    throw InputError(path + ": there is not enough memory to read it");
  } catch (const std::length_error&) {
    throw InputError(path + ": there is not enough memory to read it: a size in it is too large");
  }
}

}  // namespace prof::analyzer
