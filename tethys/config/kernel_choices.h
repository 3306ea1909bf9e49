// The one list of what --kernels.PART may choose besides "reference". A line here, and a file that defines the function
// `Override PART_CHOICE(const Config&)` in namespace kernel_choices, add a choice (kernels/choices.h).
#pragma once

#define TETHYS_KERNEL_CHOICES(X) \
  X(attention, chunked)          \
  X(loss, chunked)
