// A flame graph as one self-contained HTML file: the tree as JSON columns, which flame_graph.js draws.
// Nodes that are too small to be visible at any zoom are included: the browser decides what is drawn.
#include "analyzer/base/json/json_text.h"
#include "analyzer/output/stacks/stack_formats.h"
#include "analyzer/table/html_text.h"
#include "analyzer/table/table_pages.h"

#include <fmt/format.h>

#include <vector>

namespace prof::analyzer {

namespace {

constexpr std::string_view kGraph = R"(<div class="flame">
<div class="bar"><span class="legend"></span>
<select class="view" aria-label="which way the stacks grow"><option value="down">root on top</option>
<option value="up">root at the bottom</option><option value="leaf">callers of leaves</option></select>
<input class="search" type="search" placeholder="text or /expression/" aria-label="search">
<button class="reset" type="button" title="Esc">whole tree</button></div>
<p class="said"></p>
<div class="room"><canvas class="graph" tabindex="0" role="application"
 aria-label="flame graph; arrow keys select a frame, Enter zooms"></canvas></div>
<ul class="selected off" aria-live="polite" aria-label="selected frame"></ul>
<div class="tip"></div>
<script class="data" type="application/json">)";

// A text of the recorded program as the page shows it.
std::string page_text(std::string_view text) { return json_string(cut_text(readable_utf8(text), kLongestOnPage)); }

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

void write_tree(const CallTree& tree, Sink& sink) {
  sink.write(in_script(fmt::format("{{\"metric\":{},\"unit\":{},\"compared\":{}", json_string(tree.metric),
                                   json_string(tree.unit), tree.compared)));
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
  write_page_head(info.title, sink);
  sink.write(kGraph);
  write_tree(tree, sink);
  sink.write("</script>\n</div>\n");
  write_page_end(sink);
}

}  // namespace prof::analyzer
