// Products of cuSPARSE with one sparse matrix. The library's own getters read descriptors and take about 15 ns each. A
// call therefore queries only what decides its label. A getter prints to stderr if the object is not of its kind. The
// format of a matrix is therefore queried first, and nothing is queried about a failed call.
#include "preload/intercept/libraries/library_record_sparse.h"

namespace prof::preload {

namespace {

enum Format { kCsr = 1, kCsc = 2, kCoo = 3 };  // cusparseFormat_t
constexpr Named kFormats[] = {{kCsr, "csr"},      {kCsc, "csc"}, {kCoo, "coo"},
                              {5, "blocked_ell"}, {6, "bsr"},    {7, "sliced_ell"}};
constexpr Named kIndexTypes[] = {{1, "uint16"}, {2, "int32"}, {3, "int64"}};

struct Sparse {
  int format = 0;  // 0: not known
  int offset = 0, index = 0, type = 0;
  int64_t rows = 0, columns = 0, nonzeros = 0;
  bool known = false;  // the other members are known too
};
struct Dense {
  int type = 0xff;
  int64_t rows = -1, columns = -1;
};

class SparseCall {
 public:
  explicit SparseCall(const LibraryGetters& getters) : getters_(getters) {}

  Sparse sparse(const void* matrix) const {
    Sparse found;
    void *a = nullptr, *b = nullptr, *c = nullptr;
    int base = 0;
    if (!ask(getters_.sparse_format, matrix, &found.format)) return {};
    const auto compressed = [&](const auto& get) {
      return ask(get, matrix, &found.rows, &found.columns, &found.nonzeros, &a, &b, &c, &found.offset, &found.index,
                 &base, &found.type);
    };
    if (found.format == kCsr) found.known = compressed(getters_.sparse_csr);
    if (found.format == kCsc) found.known = compressed(getters_.sparse_csc);
    if (found.format == kCoo) {
      found.known = ask(getters_.sparse_coo, matrix, &found.rows, &found.columns, &found.nonzeros, &a, &b, &c,
                        &found.index, &base, &found.type);
    }
    return found;
  }
  Dense matrix(const void* of) const {
    Dense found;
    int64_t leading = 0;
    void* values = nullptr;
    int order = 0;
    return ask(getters_.dense_matrix, of, &found.rows, &found.columns, &leading, &values, &found.type, &order)
               ? found
               : Dense{};
  }
  Dense vector(const void* of) const {
    Dense found = {.columns = 1};
    void* values = nullptr;
    return ask(getters_.dense_vector, of, &found.rows, &values, &found.type) ? found : Dense{};
  }
  int batch(const void* dense) const {
    int count = 0;
    int64_t distance = 0;
    return ask(getters_.dense_batch, dense, &count, &distance) ? count : -1;
  }
  bool one_for_all(const void* dense) const {
    int count = 0;
    int64_t distance = 0;
    return ask(getters_.dense_batch, dense, &count, &distance) && (count == 1 || distance == 0);
  }
  int sparse_batch(const void* sparse) const {
    int count = 0;
    return ask(getters_.sparse_batch, sparse, &count) ? count : -1;
  }
  bool factors_on_host(void* handle) const {
    int mode = -1;
    return ask(getters_.sparse_pointer_mode, handle, &mode) && mode == 0;
  }

 private:
  template <class Function, class Of, class... To>
  static bool ask(const std::atomic<Function>& getter, Of of, To... to) {
    const Function get = getter.load(std::memory_order_relaxed);
    return get != nullptr && of != nullptr && get(of, to...) == 0;
  }
  const LibraryGetters& getters_;
};

uint64_t word(int64_t n) { return static_cast<uint64_t>(n); }

}  // namespace

void record_sparse(const Recorded& call, const LibraryArguments& a, const LibraryGetters& getters) {
  const LibraryForm& form = call.row.form;
  const bool sampled = form.family == Family::SampledProduct, vector = form.family == Family::SparseVector;
  const void *const of_a = a.pointer(form.operand_a), *const of_b = a.pointer(form.operand_b),
                    *const of_c = a.pointer(form.operand_c);
  const SparseCall ask(getters);
  const Sparse sparse = call.status == 0 ? ask.sparse(sampled ? of_c : of_a) : Sparse{};
  if (!sparse.known) {
    return call.as(static_cast<uint64_t>(sparse.format), [&](CallText& text) {
      text.value("sparse", sampled ? "C" : "A");
      if (sparse.format != 0) add_named(text, "format", static_cast<uint64_t>(sparse.format), kFormats);
    });
  }
  const uint64_t transpose_a = a[form.transpose_a] & 3,
                 transpose_b = form.transpose_b >= 0 ? a[form.transpose_b] & 3 : 0;
  const auto compute = static_cast<uint32_t>(a[form.compute]), algorithm = static_cast<uint32_t>(a[form.algorithm]);
  const Dense dense = vector ? ask.vector(of_c) : ask.matrix(sampled ? of_a : of_c);
  const auto inner = [&](int64_t rows, int64_t columns) { return transpose_a == 0 ? columns : rows; };
  const int64_t m = sampled ? sparse.rows : inner(sparse.columns, sparse.rows);
  const int64_t n = sampled ? sparse.columns : dense.columns;
  const int64_t k = sampled ? inner(dense.rows, dense.columns) : inner(sparse.rows, sparse.columns);
  const int batch = vector ? 1 : sampled ? ask.sparse_batch(of_c) : ask.batch(of_c);
  const bool shared_a = batch > 1 && (sampled ? ask.one_for_all(of_a) : ask.sparse_batch(of_a) == 1);
  const bool shared_b = batch > 1 && ask.one_for_all(of_b);
  const Beta beta = ask.factors_on_host(a.pointer(0)) ? beta_of(a.pointer(form.beta), compute) : Beta::Unknown;
  const uint64_t types = word(sparse.type) | word(dense.type) << 8 | uint64_t{compute & 0xff} << 16 |
                         word(sparse.index) << 24 | word(sparse.offset) << 28;
  const uint64_t small = transpose_a | transpose_b << 2 | word(sparse.format) << 4 | uint64_t{shared_a} << 8 |
                         uint64_t{shared_b} << 9 | static_cast<uint64_t>(beta) << 10 | uint64_t{algorithm} << 32;
  const uint64_t key =
      mix(mix(word(m), word(n)), mix(word(k), word(sparse.nonzeros))) + mix(types, small) + mix(word(batch), 1);
  call.as(key, [&](CallText& text) {
    text.value("sparse", sampled ? "C" : "A");
    add_named(text, "format", word(sparse.format), kFormats);
    add_named(text, "transa", transpose_a, kTransposes);
    if (!vector) add_named(text, "transb", transpose_b, kTransposes);
    text.size("m", word(m));
    text.size("n", word(n));
    text.size("k", word(k));
    text.size("nnz", word(sparse.nonzeros));
    if (batch != 1) text.size("batch", word(batch));
    // The library multiplies only operands of one type, so the type of the other operand is queried only for a new
    // label.
    const int other = vector ? ask.vector(of_b).type : ask.matrix(of_b).type;
    add_named(text, "A", word(sampled ? dense.type : sparse.type), kCudaTypes);
    add_named(text, "B", word(other), kCudaTypes);
    add_named(text, "C", word(sampled ? sparse.type : dense.type), kCudaTypes);
    add_named(text, "index", word(sparse.index), kIndexTypes);
    if (sparse.offset != 0) add_named(text, "offset", word(sparse.offset), kIndexTypes);
    add_named(text, "compute", compute, kCudaTypes);
    if (shared_a) text.value("strideA", "0");
    if (shared_b) text.value("strideB", "0");
    add_beta(text, beta);
    if (algorithm != 0) text.value("algorithm", uint64_t{algorithm});  // 0: the library's choice
  });
}

}  // namespace prof::preload
