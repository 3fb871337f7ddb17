#include "preload/driver/driver.h"

namespace prof::preload {

Driver g_driver;

}  // namespace prof::preload
