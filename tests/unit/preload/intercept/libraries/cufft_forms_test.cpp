// The positions of the arguments of cuFFT's functions, compared with cuFFT's own headers, if the machine has them.
#include "preload/intercept/libraries/library_forms.h"
#include "tests/unit/preload/intercept/libraries/function_arguments.h"

#include <gtest/gtest.h>

#if __has_include(<cufft.h>) && __has_include(<cufftXt.h>)
#include <cufft.h>
#include <cufftXt.h>

namespace prof::preload {
namespace {

template <class Function> void transform(const char* name, const LibraryForm& form) {
  SCOPED_TRACE(name);
  const auto size = [&](int at) { return form.wide ? is<Function, long long>(at) : is<Function, int>(at); };
  const auto array = [&](int at) { return form.wide ? is<Function, long long*>(at) : is<Function, int*>(at); };
  EXPECT_TRUE(all_words<Function>());
  EXPECT_LE(ArgumentsOf<Function>::kCount, kMostArguments);
  EXPECT_TRUE(form.makes ? (is<Function, cufftHandle*>(0)) : (is<Function, cufftHandle>(0)));
  for (int i = 0; i < form.rank; ++i) EXPECT_TRUE((is<Function, int>(form.sizes + i))) << i;
  if (form.sizes >= 0 && form.rank == 0) {
    EXPECT_TRUE((is<Function, int>(form.sizes - 1)));
    EXPECT_TRUE(array(form.sizes));
  }
  EXPECT_TRUE((is<Function, cufftType>(form.type)));
  for (const int at : {form.type_a, form.type_c}) EXPECT_TRUE((is<Function, cudaDataType>(at))) << at;
  EXPECT_TRUE(size(form.batch));
  EXPECT_TRUE((is<Function, int>(form.operation)));
}

TEST(CufftForms, AreAsInItsHeaders) {
#undef CHECK_CUFFT
#define CHECK_CUFFT(name, which) transform<decltype(name)>(#name, form::k##which);
#define LIBRARY_API(library, name, which, type) CHECK_##library(name, which)
#include "preload/intercept/libraries/library_api.def"
#undef LIBRARY_API
  EXPECT_EQ(CUFFT_R2C, 0x2a);
  EXPECT_EQ(CUFFT_C2R, 0x2c);
  EXPECT_EQ(CUFFT_C2C, 0x29);
  EXPECT_EQ(CUFFT_D2Z, 0x6a);
  EXPECT_EQ(CUFFT_Z2D, 0x6c);
  EXPECT_EQ(CUFFT_Z2Z, 0x69);
  EXPECT_LT(CUFFT_FORWARD, 0);
  EXPECT_GT(CUFFT_INVERSE, 0);
}

}  // namespace
}  // namespace prof::preload
#endif
