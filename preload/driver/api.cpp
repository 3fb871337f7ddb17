#include "preload/driver/api.h"

namespace prof::preload {

DriverRow g_driver_rows[kApiCount];

}  // namespace prof::preload
