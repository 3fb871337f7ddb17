// What GPUs there are, for the log. Called once a life, when GPU activity is taken.
#pragma once

namespace prof::preload {

// As cuDriverGetVersion tells it; 0: not known.
int read_driver_version();

// Defines every device the driver shows to this process, and the driver's version, which is returned (0: not known). The
// caller is inside a scope that records.
int define_devices();

}  // namespace prof::preload
