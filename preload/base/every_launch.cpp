#include "preload/base/every_launch.h"

#include "preload/base/life_page.h"

namespace prof::preload {

constinit EveryLaunch g_every_launch{.life = &g_first_life_page};

}  // namespace prof::preload
