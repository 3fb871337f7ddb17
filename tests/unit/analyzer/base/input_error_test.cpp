// A file that needs more memory than there is gives an error with its name.
#include "analyzer/base/input_error.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

template <class Read> std::string error_of_reading(Read read) {
  try {
    reading_file("big.json", read);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(InputErrors, MissingMemoryIsReportedWithTheNameOfTheFile) {
  EXPECT_EQ(error_of_reading([]() { throw std::bad_alloc(); }), "big.json: there is not enough memory to read it");
  EXPECT_EQ(error_of_reading([]() { std::vector<int>().reserve(SIZE_MAX); }),
            "big.json: there is not enough memory to read it: a size in it is too large");
  EXPECT_EQ(error_of_reading([]() { throw InputError("other: is damaged"); }), "other: is damaged");
  EXPECT_EQ(reading_file("big.json", [] { return 5; }), 5);
}

}  // namespace
}  // namespace prof::analyzer
