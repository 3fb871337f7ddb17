// Runs the models of the recorder's memory orders in relacy.
//   memory_orders [--iterations N]      every model with the orders as they are written; fails if one finds a mistake
//   memory_orders --weaken              weakens one order at a time and prints which model notices it; fails if none
//                                       does
//   memory_orders --site N              the models with order N weakened, and what relacy says
#include "tests/models/models.h"

#include <cstdio>
#include <iostream>

namespace model {

int g_weak_site = 0;
rl::memory_order g_weak_to = rl::mo_relaxed;
bool g_reached[1000] = {};

namespace {

// relacy gives memory of its own to what allocates inside an execution, so what it says goes to a fixed place.
class FixedText : public std::streambuf {
 public:
  FixedText() { clear(); }
  void clear() { setp(text_, text_ + sizeof text_ - 1); }
  const char* text() {
    *pptr() = '\0';
    return text_;
  }

 private:
  char text_[1 << 16];
};
FixedText g_said;
std::ostream g_output(&g_said);

struct Site {
  int number;
  const char* place;
  rl::memory_order order;
  const char* line;
};
const Site kSites[] = {
#define SITE(number, place, order, line) {number, place, order, line},
#include "all.sites"
#undef SITE
};

struct Weaker {
  rl::memory_order to;
  const char* name;
};
std::vector<Weaker> weaker_than(rl::memory_order order) {
  switch (order) {
    case rl::mo_acquire: return {{rl::mo_relaxed, "without acquire"}};
    case rl::mo_release: return {{rl::mo_relaxed, "without release"}};
    case rl::mo_acq_rel: return {{rl::mo_acquire, "without release"}, {rl::mo_release, "without acquire"}};
    default: return {};
  }
}

// The name of the first model that fails; null: none.
const char* first_failure(const Models& models, unsigned iterations) {
  for (const Models::Row& row : models.rows) {
    g_said.clear(), g_output.clear();
    if (!row.run(iterations)) return row.name;
  }
  return nullptr;
}

// Orders of seq_cst are weakened to acquire, release or both, whichever the operation can have.
std::vector<Weaker> weaker_than(const Site& site) {
  if (site.order != rl::mo_seq_cst) return weaker_than(site.order);
  const std::string_view line = site.line;
  const bool load = line.find(".load(") != line.npos, store = line.find(".store(") != line.npos;
  return {{load ? rl::mo_acquire : store ? rl::mo_release : rl::mo_acq_rel, "without seq_cst"}};
}

}  // namespace

std::ostream& Models::output() { return g_output; }

int run(int argc, char** argv) {
  Models models;
  add_handle_map(models);
  add_intern(models);
  add_rule_table(models);
  add_ring(models);
  add_chunks(models);
  unsigned iterations = 20000;
  bool weaken = false;
  int only = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--weaken") weaken = true;
    if (word == "--site" && i + 1 < argc) only = std::atoi(argv[++i]);
    if (word == "--iterations" && i + 1 < argc) iterations = static_cast<unsigned>(std::atoi(argv[++i]));
  }
  if (const char* const name = first_failure(models, iterations); name != nullptr) {
    std::printf("FAIL %s\n%s\n", name, g_said.text());
    return 1;
  }
  for (const Models::Row& row : models.rows) std::printf("ok   %s\n", row.name);
  int unnoticed = 0, tried = 0;
  for (const Site& site : kSites) {
    if (!g_reached[site.number]) {
      std::printf("FAIL no model reaches %s %s\n", site.place, site.line);
      ++unnoticed;
    }
    if (!weaken && only != site.number) continue;
    for (const Weaker& weaker : weaker_than(site)) {
      g_weak_site = site.number;
      g_weak_to = weaker.to;
      const char* const by = first_failure(models, iterations);
      g_weak_site = 0;
      ++tried;
      unnoticed += by == nullptr;
      std::printf("| %d | %s | `%s` | %s | %s |\n", site.number, site.place, site.line, weaker.name,
                  by != nullptr ? by : "**nothing**");
      if (only != 0) std::printf("%s\n", g_said.text());
      std::fflush(stdout);
    }
  }
  if (weaken) std::printf("%d weakenings, %d unnoticed\n", tried, unnoticed);
  return unnoticed != 0;
}

}  // namespace model

int main(int argc, char** argv) { return model::run(argc, argv); }
