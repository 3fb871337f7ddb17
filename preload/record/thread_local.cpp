#include "preload/record/thread_local.h"

namespace prof::preload {

constinit thread_local ThreadLocal t_local __attribute__((tls_model("initial-exec"))) = {};
constinit thread_local BeforeReady t_before_ready __attribute__((tls_model("initial-exec"))) = {};

}  // namespace prof::preload
