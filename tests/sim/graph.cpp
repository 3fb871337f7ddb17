// What a graph is and how it runs: nodes, clones, instances, launches. See graph.h for ids.
#include "tests/sim/graph.h"

#include <algorithm>
#include <map>

#include "tests/sim/api_call.h"
#include "tests/sim/capture.h"

namespace sim {
namespace {

std::atomic<uint32_t> g_next_graph{1};

std::map<CUgraphConditionalHandle, unsigned>& conditions() {
  static auto* const all = new std::map<CUgraphConditionalHandle, unsigned>;
  return *all;
}

Work work_of(const NodeArguments& arguments, Context* context) {
  Work work;
  switch (arguments.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: kernel_work(arguments.kernel, &work); break;
    case CU_GRAPH_NODE_TYPE_MEMCPY: work = copy_work(arguments.copy, context, true); break;
    case CU_GRAPH_NODE_TYPE_MEMSET: work = memset_work(arguments.memset, context, true); break;
    case CU_GRAPH_NODE_TYPE_HOST: work = host_work(arguments.host.fn, arguments.host.userData); break;
    default: break;
  }
  return work;
}

struct Run {
  Stream* stream;
  Ns ready;
  std::vector<OperationPtr> entry;  // what the whole graph waits for
  bool in_body = false;             // in the body of a conditional node: CUPTI gives no correlation id
  bool from_device = false;         // launched by a kernel: CUPTI gives no record
};

std::vector<OperationPtr> run_nodes(const Graph& graph, const Run& run);

std::vector<OperationPtr> run_bodies(const Node& node, Run run) {
  const CUDA_CONDITIONAL_NODE_PARAMS& condition = node.arguments.condition;
  const unsigned value = conditions()[condition.handle];
  size_t body = value;
  if (condition.type == CU_GRAPH_COND_TYPE_IF) body = value != 0 ? 0 : 1;
  if (condition.type == CU_GRAPH_COND_TYPE_WHILE) body = 0;
  run.in_body = true;
  const unsigned times = condition.type == CU_GRAPH_COND_TYPE_WHILE ? value : 1;
  for (unsigned i = 0; i < times && body < node.bodies.size(); ++i) {
    std::vector<OperationPtr> last = run_nodes(*node.bodies[body], run);
    if (!last.empty()) run.entry = std::move(last);
  }
  return run.entry;
}

// Returns the last operations of the graph, on which no other operation in it depends.
std::vector<OperationPtr> run_nodes(const Graph& graph, const Run& run) {
  std::map<const Node*, std::vector<OperationPtr>> ends;
  std::set<const Node*> inner;
  std::vector<const Node*> order;
  // Nodes are stored in creation order, but edges may be added later: visit depth first.
  std::set<const Node*> seen;
  const std::function<void(const Node*)> visit = [&](const Node* one) {
    if (!seen.insert(one).second) return;
    for (const Node* before : one->after) visit(before);
    order.push_back(one);
  };
  for (const auto& one : graph.nodes) visit(one.get());
  for (const Node* node : order) {
    std::vector<OperationPtr> after;
    for (const Node* before : node->after) {
      inner.insert(before);
      after.insert(after.end(), ends[before].begin(), ends[before].end());
    }
    if (node->after.empty()) after = run.entry;
    if (node->child != nullptr) {
      ends[node] = run_nodes(*node->child, {run.stream, run.ready, after, run.in_body, run.from_device});
      if (ends[node].empty()) ends[node] = after;
      continue;
    }
    if (!node->bodies.empty()) {
      ends[node] = run_bodies(*node, {run.stream, run.ready, after, run.in_body, run.from_device});
      continue;
    }
    Work work = node->work;
    if (!node->enabled) work = Work{};
    work.recorded = !run.from_device;
    work.record.graph_node = node->number_in_records != 0 ? node->number_in_records : node_id(node);
    work.record.graph_id = static_cast<uint32_t>(work.record.graph_node >> 32);
    if (node->arguments.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT && node->arguments.event->operation != nullptr) {
      after.push_back(node->arguments.event->operation);
    }
    const OperationPtr one = submit_in_graph_locked(run.stream, std::move(work), std::move(after), run.ready);
    if (run.in_body) one->work.record.correlation = 0;
    if (node->arguments.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) node->arguments.event->operation = one;
    ends[node].push_back(one);
  }
  std::vector<OperationPtr> last;
  for (const auto& node : graph.nodes) {
    if (inner.count(node.get()) == 0) last.insert(last.end(), ends[node.get()].begin(), ends[node.get()].end());
  }
  return last;
}

}  // namespace

uint64_t node_id(const Node* node) { return static_cast<uint64_t>(node->graph->id) << 32 | node->index; }

CUgraphConditionalHandle make_condition(unsigned value) {
  const CUgraphConditionalHandle handle = conditions().size() + 1;
  conditions()[handle] = value;
  return handle;
}

Graph* make_graph() {
  Graph* one = new Graph;
  one->id = g_next_graph.fetch_add(1);
  return one;
}

Node* add_node(Graph* graph, const std::vector<Node*>& after, const NodeArguments& arguments, Work work) {
  auto made = std::make_unique<Node>();
  made->graph = graph;
  made->index = graph->next_index++;
  made->after = after;
  made->arguments = arguments;
  made->work = std::move(work);
  graph->nodes.push_back(std::move(made));
  return graph->nodes.back().get();
}

std::unique_ptr<Graph> clone_graph(const Graph& from) {
  std::unique_ptr<Graph> copy(make_graph());
  std::map<const Node*, Node*> twin;
  for (const auto& one : from.nodes) {
    auto made = std::make_unique<Node>();
    made->graph = copy.get();
    made->index = one->index;
    made->arguments = one->arguments;
    made->work = one->work;
    made->enabled = one->enabled;
    made->original = one.get();
    if (one->child != nullptr) made->child = clone_graph(*one->child);
    for (const auto& body : one->bodies) made->bodies.push_back(clone_graph(*body));
    twin[one.get()] = made.get();
    copy->nodes.push_back(std::move(made));
  }
  for (const auto& one : from.nodes) {
    for (Node* before : one->after) twin[one.get()]->after.push_back(twin[before]);
  }
  copy->next_index = from.next_index;
  return copy;
}

// As observed with CUDA 13: the nodes of an executable graph keep their indices. After the last one come those of the
// first graph inside it (a child graph or the body of a conditional node), then those of the graphs inside that one,
// then the next.
static void number_graphs_inside(const Graph& graph, uint32_t exec, uint32_t& next) {
  const auto number = [&](const Graph& inside) {
    const uint32_t first = next;
    for (const auto& node : inside.nodes)
      node->number_in_records = static_cast<uint64_t>(exec) << 32 | (first + node->index);
    next += inside.next_index;
    number_graphs_inside(inside, exec, next);
  };
  for (const auto& node : graph.nodes) {
    if (node->child != nullptr) number(*node->child);
    for (const auto& body : node->bodies) number(*body);
  }
}

Exec* make_exec(Context* context, const Graph& from, unsigned long long flags) {
  Exec* one = new Exec;
  one->context = context;
  one->graph = clone_graph(from);
  one->flags = flags;
  uint32_t next = one->graph->next_index;
  number_graphs_inside(*one->graph, one->graph->id, next);
  return one;
}

void remove_node(Node* node) {
  Graph* graph = node->graph;
  for (const auto& other : graph->nodes) {
    other->after.erase(std::remove(other->after.begin(), other->after.end(), node), other->after.end());
  }
  graph->nodes.erase(
      std::find_if(graph->nodes.begin(), graph->nodes.end(), [&](const auto& one) { return one.get() == node; }));
}

CUresult launch_graph(Exec* exec, Stream* stream) {
  Lock lock(device_mutex());
  if (stream->capture != nullptr) {
    // A graph launched into a capture becomes a child node, as in the real driver.
    NodeArguments arguments;
    arguments.type = CU_GRAPH_NODE_TYPE_GRAPH;
    Node* node = nullptr;
    const CUresult result = capture_work(stream, Work{}, arguments, &node);
    if (result == CUDA_SUCCESS) node->child = clone_graph(*exec->graph);
    return result;
  }
  if (const CUresult refused = allow_legacy_use(lock, stream)) return refused;
  limit_outstanding(lock, stream);
  const Run run{stream, ready_time(), stream_dependencies_locked(stream)};
  std::vector<OperationPtr> last = run_nodes(*exec->graph, run);
  last.insert(last.end(), run.entry.begin(), run.entry.end());
  const OperationPtr end = submit_in_graph_locked(stream, Work{}, std::move(last), run.ready);
  adopt_tail_locked(stream, end);
  if (ActivitySink* sink = activity_sink()) {
    const GraphRun report{run.ready,
                          0,
                          static_cast<uint32_t>(stream->context->device->ordinal),
                          stream->context->id,
                          stream->cupti_id,
                          end->work.record.correlation,
                          exec->graph->id};
    const auto tell = [sink, report, entry = run.entry](const Operation& one) {
      GraphRun now = report;
      for (const OperationPtr& before : entry) now.start = std::max(now.start, before->end);
      now.end = one.end;
      if (sink == activity_sink()) sink->graph_done(now);
    };
    if (end->retired) {
      tell(*end);
    } else {
      end->on_retire = tell;
    }
  }
  return CUDA_SUCCESS;
}

Work graph_node_work(const NodeArguments& arguments, Context* context) { return work_of(arguments, context); }

}  // namespace sim

// Behaves as if a running kernel had launched the graph: CUPTI has no record of it, as on an H200 (2026-11-22).
extern "C" SIM_EXPORT void sim_launch_from_device(CUgraphExec exec, CUstream stream) {
  using namespace sim;
  Stream* const on = resolve_stream(stream);
  Lock lock(device_mutex());
  run_nodes(*object<Exec>(exec)->graph, {on, now_ns(), stream_dependencies_locked(on), false, true});
}
