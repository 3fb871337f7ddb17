#include "preload/intercept/nvtx/nvtx_given_names.h"

#include "preload/base/clock.h"
#include "preload/capture/streams/streams.h"
#include "preload/driver/null_stream.h"
#include "preload/intercept/nvtx/nvtx_record.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/log/count.h"
#include "preload/record/append.h"

#include <cstdint>
#include <string_view>

namespace prof::preload {
namespace {

std::string_view short_text(std::string_view text) {
  constexpr size_t kMost = format::kMaxTextBytes - 100;
  if (text.size() <= kMost) return text;
  count(format::LossCounter::text_cut);
  return text.substr(0, kMost);
}

}  // namespace

void nvtx_name_category(NvtxObject* domain, uint32_t category, std::string_view name) {
  const EventScope scope;
  if (scope.recording()) define(format::NvtxCategoryDef{nvtx_domain_id(domain), category, short_text(name)});
}

void nvtx_name(const NvtxNamed& named, std::string_view name) {
  const EventScope scope;
  if (!scope.recording()) return;
  format::ResourceName event;
  event.what = named.what;
  event.object = named.object;
  switch (named.what) {
    case format::NamedKind::Context:
      event.object = static_cast<uint64_t>(context_id(reinterpret_cast<CUcontext>(named.object)));
      break;
    case format::NamedKind::Stream:
      event.object =
          static_cast<uint64_t>(stream_id(stream_state(reinterpret_cast<CUstream>(named.object), NullStream::Legacy)));
      break;
    default: break;
  }
  event.time = now_ticks();
  event.domain = nvtx_domain_id(named.domain);
  event.type = named.type;
  event.gone = named.gone ? 1 : 0;
  event.name = short_text(name);
  keep(event);
}

}  // namespace prof::preload
