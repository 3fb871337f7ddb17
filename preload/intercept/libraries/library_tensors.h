// Sizes of cuDNN's tensors and filters by their descriptors, noted when the program sets them. cuDNN's getters take
// about 50 ns each, and a convolution has three descriptors. The table has a fixed size, and a later descriptor may
// replace an earlier one. What is not found is queried. Everything that changes a descriptor is a row of
// library_api.def, so no entry is out of date. It runs in the program and is lock-free.
#pragma once

#include "preload/intercept/libraries/library.h"
#include "preload/intercept/libraries/library_plans.h"

namespace prof::preload {

// tensor_set: called after a call that sets the sizes of its first argument, with its status. tensors_changed: called
// after a call that changes or destroys the descriptors operand_a to operand_c.
void tensor_set(const LibraryForm& form, const LibraryArguments& arguments, uint32_t status);
void tensors_changed(const LibraryForm& form, const LibraryArguments& arguments);

// The sizes that the getters would return. False: not known.
bool noted_tensor(const void* descriptor, PlanTensor& to);

// A tensor with `rank` sizes. False: no tensor has this rank or type. `type`: cudnnDataType_t.
bool make_tensor(PlanTensor& to, int type, int rank, const int* sizes);

}  // namespace prof::preload
