// Writes speedscope's file format: the frames, then one "sampled" profile with one sample per node and the node's value
// as weight. speedscope draws samples in their order. They are in the order of the tree, so equal callers are adjacent.
#include "analyzer/base/json/json_text.h"
#include "analyzer/base/saturated.h"
#include "analyzer/output/stacks/stack_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace prof::analyzer {

namespace {

// Nodes in depth-first order.
std::vector<uint32_t> in_tree_order(const CallTree& tree) {
  std::vector<std::vector<uint32_t>> children(tree.nodes().size());
  for (uint32_t n = 1; n < tree.nodes().size(); ++n) children[tree.nodes()[n].parent].push_back(n);
  std::vector<uint32_t> order, open{0};
  while (!open.empty()) {
    const uint32_t n = open.back();
    open.pop_back();
    order.push_back(n);
    open.insert(open.end(), children[n].rbegin(), children[n].rend());
  }
  return order;
}

void write_profile(const CallTree& tree, const std::vector<uint32_t>& order, bool before, std::string_view name,
                   Sink& sink) {
  const auto value = [&](uint32_t n) { return before ? tree.nodes()[n].before : tree.nodes()[n].value; };
  int64_t sum = 0;
  for (uint32_t n = 1; n < tree.nodes().size(); ++n) grow(sum, std::max<int64_t>(value(n), 0));
  const std::string unit = tree.unit == "count" ? "none" : tree.unit;
  sink.write(
      fmt::format("{{\"type\":\"sampled\",\"name\":{},\"unit\":\"{}\",\"startValue\":0,\"endValue\":{},\"samples\":[",
                  json_string(name), unit, sum));
  std::string weights;
  std::vector<uint32_t> path;
  for (const uint32_t n : order) {
    if (n == 0 || value(n) <= 0) continue;
    path.clear();
    for (uint32_t at = n; at != 0; at = tree.nodes()[at].parent) path.push_back(tree.nodes()[at].frame - 1);
    std::string sample = weights.empty() ? "[" : ",[";
    for (size_t i = path.size(); i-- > 0;) sample += fmt::format("{}{}", path[i], i == 0 ? "]" : ",");
    sink.write(sample);
    weights += fmt::format("{}{}", weights.empty() ? "" : ",", value(n));
  }
  sink.write("],\"weights\":[");
  sink.write(weights);
  sink.write("]}");
}

}  // namespace

void write_speedscope(const CallTree& tree, const StackFileInfo& info, Sink& sink) {
  sink.write("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":[");
  for (uint32_t f = 1; f < tree.frames().size(); ++f) {
    const TreeFrame& frame = tree.frames()[f];
    std::string text = fmt::format("{}{{\"name\":{}", f == 1 ? "\n" : ",\n", json_string(tree.text(frame.name)));
    const StringId file = frame.file != StringId{} ? frame.file : frame.module;
    if (file != StringId{}) text += ",\"file\":" + json_string(tree.text(file));
    if (frame.line != 0) text += fmt::format(",\"line\":{}", frame.line);
    sink.write(text + "}");
  }
  sink.write("\n]},\"profiles\":[\n");
  const std::vector<uint32_t> order = in_tree_order(tree);
  write_profile(tree, order, false, tree.metric, sink);
  if (tree.compared) {
    sink.write(",\n");
    write_profile(tree, order, true, tree.metric + " before", sink);
  }
  sink.write(fmt::format("\n],\"name\":{},\"exporter\":\"prof@{}\",\"activeProfileIndex\":0}}\n",
                         json_string(info.title), PROF_VERSION));
}

}  // namespace prof::analyzer
