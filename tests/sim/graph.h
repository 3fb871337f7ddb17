// Graphs and their nodes: built by stream capture or by cuGraphAdd*, copied by instantiation, run by launch_graph().
// CUPTI's ids: a node is graphId << 32 | index; instantiation takes a new graph id and keeps every index.
#pragma once
#include <memory>
#include <vector>

#include "tests/sim/device.h"

namespace sim {

struct NodeArguments {  // as given to cuGraphAdd*, or made from the captured call
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUDA_KERNEL_NODE_PARAMS kernel{};
  CUDA_MEMCPY3D copy{};
  CUDA_MEMSET_NODE_PARAMS memset{};
  CUDA_HOST_NODE_PARAMS host{};
  Event* event = nullptr;
  CUDA_MEM_ALLOC_NODE_PARAMS allocation{};
  CUdeviceptr freed = 0;
  CUDA_CONDITIONAL_NODE_PARAMS condition{};
};

struct Graph;

struct Node {
  Graph* graph = nullptr;
  uint32_t index = 0;
  NodeArguments arguments;
  Work work;
  std::vector<Node*> after;
  std::unique_ptr<Graph> child;
  std::vector<std::unique_ptr<Graph>> bodies;  // of a conditional node
  std::vector<CUgraph> body_handles;           // the handles that the program gets
  Node* original = nullptr;                    // in the graph this one was cloned from
  uint64_t number_in_records = 0;              // inside another node of an executable graph; 0: node_id()
  bool enabled = true;
};

struct Graph {
  uint32_t id = 0;
  uint32_t next_index = 0;
  std::vector<std::unique_ptr<Node>> nodes;  // each after its dependencies, unless edges were added later
};

// Conditions keep the value they were created with: IF and SWITCH run the body it selects, WHILE runs its body that
// many times.
CUgraphConditionalHandle make_condition(unsigned value);

struct Exec {
  Context* context = nullptr;
  std::unique_ptr<Graph> graph;
  unsigned long long flags = 0;
};

Graph* make_graph();
Node* add_node(Graph* graph, const std::vector<Node*>& after, const NodeArguments& arguments, Work work);
std::unique_ptr<Graph> clone_graph(const Graph& from);
Exec* make_exec(Context* context, const Graph& from, unsigned long long flags);
CUresult launch_graph(Exec* exec, Stream* stream);
void remove_node(Node* node);
uint64_t node_id(const Node* node);

// The driver's operation for the arguments of a node or a call (driver_launch.cpp, driver_copy.cpp).
CUresult kernel_work(const CUDA_KERNEL_NODE_PARAMS& params, Work* work);
Work copy_work(const CUDA_MEMCPY3D& params, Context* context, bool async);
Work memset_work(const CUDA_MEMSET_NODE_PARAMS& params, Context* context, bool async);
Work host_work(CUhostFn function, void* data);
Work event_record_work(Event* event);
Work graph_node_work(const NodeArguments& arguments, Context* context);

}  // namespace sim
