// Sizes of cuDNN's tensors and filters by their descriptors, noted when the program sets them: its getters take about 50 ns each, and a
// convolution has three descriptors. A fixed table in which a later descriptor takes the place of an earlier one: what is not found is
// asked for. Everything that changes a descriptor is a row of library_api.def, so that none has sizes it no longer has. In the
// program; lock-free.
#pragma once

#include "preload/intercept/libraries/library.h"
#include "preload/intercept/libraries/library_plans.h"

namespace prof::preload {

// Behind a call that sets the sizes of its first argument, with its status, and behind one that changes or ends operand_a to operand_c.
void tensor_set(const LibraryForm& form, const LibraryArguments& arguments, uint32_t status);
void tensors_changed(const LibraryForm& form, const LibraryArguments& arguments);

// What the getters would answer; false: not known.
bool noted_tensor(const void* descriptor, PlanTensor& to);

// A tensor of so many sizes, if it can be one; `type`: cudnnDataType_t.
bool make_tensor(PlanTensor& to, int type, int rank, const int* sizes);

}  // namespace prof::preload
