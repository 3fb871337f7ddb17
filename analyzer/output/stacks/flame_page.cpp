// A flame graph as one self-contained HTML file. The page is flame_page.inc, followed by the tree as JSON columns.
// Nodes that are too small to be visible at any zoom are included: the browser decides what is drawn.
#include "analyzer/base/json/json_text.h"
#include "analyzer/output/stacks/stack_formats.h"
#include "analyzer/table/html_text.h"

#include <fmt/format.h>

#include <vector>

namespace prof::analyzer {

namespace {

constexpr std::string_view kPage =
#include "analyzer/output/stacks/flame_page.inc"
    ;

// A text of the recorded program as the page shows it.
std::string page_text(std::string_view text) { return json_string(cut_text(readable_utf8(text), kLongestOnPage)); }

// JSON inside a <script> element must not contain the end of the element.
std::string in_script(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char each : json) {
    if (each == '<') {
      safe += "\\u003c";
    } else {
      safe += each;
    }
  }
  return safe;
}

template <class Each> void write_list(Sink& sink, std::string_view name, size_t count, Each&& each) {
  sink.write(fmt::format(",\n\"{}\":[", name));
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    if (i != 0) text += ',';
    text += each(i);
    if (text.size() > 1 << 16) {
      sink.write(text);
      text.clear();
    }
  }
  sink.write(text);
  sink.write("]");
}

void write_tree(const CallTree& tree, const StackFileInfo& info, Sink& sink) {
  sink.write(in_script(fmt::format("{{\"title\":{},\"metric\":{},\"unit\":{},\"compared\":{}", page_text(info.title),
                                   json_string(tree.metric), json_string(tree.unit), tree.compared)));
  const std::vector<TreeFrame>& frames = tree.frames();
  const std::vector<TreeNode>& nodes = tree.nodes();
  // A frame: name, file, line, module, kind.
  write_list(sink, "frames", frames.size(), [&](size_t f) {
    return in_script(fmt::format("[{},{},{},{},{}]", page_text(tree.text(frames[f].name)),
                                 page_text(tree.text(frames[f].file)), frames[f].line,
                                 page_text(tree.text(frames[f].module)), static_cast<int>(frames[f].kind)));
  });
  write_list(sink, "parent", nodes.size(), [&](size_t n) { return fmt::format_int(nodes[n].parent).str(); });
  write_list(sink, "frame", nodes.size(), [&](size_t n) { return fmt::format_int(nodes[n].frame).str(); });
  write_list(sink, "value", nodes.size(), [&](size_t n) { return fmt::format_int(nodes[n].value).str(); });
  write_list(sink, "count", nodes.size(), [&](size_t n) { return fmt::format_int(nodes[n].count).str(); });
  if (tree.compared)
    write_list(sink, "before", nodes.size(), [&](size_t n) { return fmt::format_int(nodes[n].before).str(); });
  sink.write("}");
}

}  // namespace

void write_flame_page(const CallTree& tree, const StackFileInfo& info, Sink& sink) {
  constexpr std::string_view kTitle = "@TITLE@", kData = "@DATA@";
  const size_t title = kPage.find(kTitle), data = kPage.find(kData);
  sink.write(kPage.substr(0, title));
  sink.write(in_html(info.title));
  sink.write(kPage.substr(title + kTitle.size(), data - title - kTitle.size()));
  write_tree(tree, info, sink);
  sink.write(kPage.substr(data + kData.size()));
}

}  // namespace prof::analyzer
