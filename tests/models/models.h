// The models, each with the name of what it checks.
#pragma once

#include "tests/models/model.h"

#include <string>
#include <vector>

namespace model {

class Models {
 public:
  struct Row {
    const char* name;
    bool (*run)(unsigned iterations);
  };
  std::vector<Row> rows;
  template <class Test> void add(const char* name) {
    rows.push_back({name, [](unsigned iterations) {
                      rl::test_params params;
                      params.iteration_count = iterations;
                      params.execution_depth_limit = 20000;
                      params.output_stream = params.progress_stream = &output();
                      return rl::simulate<Test>(params);
                    }});
  }
  static std::ostream& output();  // what relacy says
};

void add_chunks(Models& models);
void add_handle_map(Models& models);
void add_intern(Models& models);
void add_ring(Models& models);
void add_rule_table(Models& models);

}  // namespace model
