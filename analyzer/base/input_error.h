// The error for an input that cannot be used at all.
#pragma once

#include <stdexcept>

namespace prof::analyzer {

// what() has the name of the file, the position if there is one, and what to do.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace prof::analyzer
