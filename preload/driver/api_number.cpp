#include "preload/driver/api_number.h"

namespace prof::preload {

__attribute__((noinline)) format::ApiId give_api_number(ApiNumber& number) {
  static std::atomic<uint16_t> last;
  uint16_t given = 0;
  const auto next = static_cast<uint16_t>(last.fetch_add(1, std::memory_order_relaxed) + 1);
  return format::ApiId{number.compare_exchange_strong(given, next, std::memory_order_relaxed) ? next : given};
}

}  // namespace prof::preload
