// einsum and tensordot: sums of products over labelled dims. Each operand is a tensor with a label for each
// dim. Two operands at a time are contracted by one batched matrix product of views with permuted dims, so
// that the BLAS gets transposes as flags.
#include <algorithm>
#include <string>

#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

// Labels are numbers: A … Z, a … z, then the dims of the ellipsis, numbered from the last one.
constexpr int kEllipsis = 52, kLabels = kEllipsis + kMaxDims;
constexpr int64_t kShortSum = 512;  // shorter sums are not worth a BLAS call of their own

using LabelSet = uint64_t;

struct Term {
  Tensor x;
  Dims labels;

  LabelSet set() const {
    LabelSet all = 0;
    for (const int64_t label : labels) all |= LabelSet(1) << label;
    return all;
  }
  int dim_of(int64_t label) const {
    return int(std::find(labels.begin(), labels.end(), label) - labels.begin());
  }
  int64_t size_of(int64_t label) const { return x.size(dim_of(label)); }
};

bool contains(LabelSet set, int64_t label) { return set >> label & 1; }

// The term summed over the labels that are not in `kept`.
Term summed(Term term, LabelSet kept) {
  Dims dims, labels;
  for (int d = 0; d < term.labels.size(); ++d) {
    if (contains(kept, term.labels[d]))
      labels.push_back(term.labels[d]);
    else
      dims.push_back(d);
  }
  if (dims.empty()) return term;
  const DType type = term.x.dtype();
  return {to(sum(term.x, dims), type), labels};
}

// The term without the labels of `set`, whose dims have size 1.
Term squeezed(const Term& term, LabelSet set) {
  Term left = term;
  for (int d = term.labels.size() - 1; d >= 0; --d)
    if (contains(set, term.labels[d])) {
      left.x = squeeze(left.x, d);
      left.labels.erase(d);
    }
  return left;
}

Tensor in_label_order(const Term& term, const Dims& labels) {
  Dims order;
  bool same = true;
  for (int i = 0; i < labels.size(); ++i) {
    order.push_back(term.dim_of(labels[i]));
    same &= order[i] == i;
  }
  return same ? term.x : permute(term.x, order);
}

Dims labels_in(const Term& term, LabelSet set) {
  Dims found;
  for (const int64_t label : term.labels)
    if (contains(set, label)) found.push_back(label);
  return found;
}

Dims concat(const Dims& a, const Dims& b) {
  Dims all = a;
  for (const int64_t label : b) all.push_back(label);
  return all;
}

Shape sizes(const Term& term, const Dims& labels) {
  Shape shape;
  for (const int64_t label : labels) shape.push_back(term.size_of(label));
  return shape;
}

// Labels by decreasing stride, so that dims merge without a copy where possible.
Dims by_stride(const Term& term, Dims labels) {
  for (int i = 1; i < labels.size(); ++i)
    for (int at = i;
         at > 0 && term.x.strides()[term.dim_of(labels[at - 1])] < term.x.strides()[term.dim_of(labels[at])];
         --at)
      std::swap(labels[at - 1], labels[at]);
  return labels;
}

// The product without a sum: both operands broadcast.
Term broadcast_product(const Term& a, const Term& b, const Dims& batch, const Dims& left, const Dims& right) {
  Tensor x = in_label_order(a, concat(batch, left)), y = in_label_order(b, concat(batch, right));
  for (int i = 0; i < right.size(); ++i) x = unsqueeze(x, x.ndim());
  for (int i = 0; i < left.size(); ++i) y = unsqueeze(y, batch.size());
  return {mul(x, y), concat(concat(batch, left), right)};
}

// The sum of the products of two terms over the labels that both have and no other term needs.
Term contract(Term a, Term b, LabelSet needed) {
  a = summed(a, needed | b.set());
  b = summed(b, needed | a.set());
  // Labels of size 1 in this term and longer in the other: they broadcast
  LabelSet single_a = 0, single_b = 0;
  for (const int64_t label : labels_in(a, b.set())) {
    const int64_t m = a.size_of(label), n = b.size_of(label);
    if (m == 1 && n != 1) single_a |= LabelSet(1) << label;
    if (n == 1 && m != 1) single_b |= LabelSet(1) << label;
  }
  if (single_a || single_b) return contract(squeezed(a, single_a), squeezed(b, single_b), needed);

  const LabelSet common = a.set() & b.set(), sums = common & ~needed;
  const Dims batch = labels_in(a, common & needed), inner = by_stride(a, labels_in(a, sums));
  const Dims left = by_stride(a, labels_in(a, ~common)), right = by_stride(b, labels_in(b, ~common));
  if (inner.empty()) return broadcast_product(a, b, batch, left, right);
  const Shape batch_shape = sizes(a, batch), inner_shape = sizes(a, inner);
  if (left.empty() && right.empty() && !batch.empty() && numel(inner_shape) < kShortSum)
    return summed(broadcast_product(a, b, concat(batch, inner), left, right), needed);
  const Shape left_shape = sizes(a, left), right_shape = sizes(b, right);
  const int64_t m = numel(left_shape), k = numel(inner_shape), n = numel(right_shape);
  const auto matrix = [&](const Term& term, const Dims& rows, const Dims& columns, int64_t r, int64_t c) {
    const Tensor x = in_label_order(term, concat(concat(batch, rows), columns));
    return rows.size() == 1 && columns.size() == 1 ? x : reshape(x, concat(batch_shape, {r, c}));
  };
  const Tensor y = matmul(matrix(a, left, inner, m, k), matrix(b, inner, right, k, n));
  const Shape shape = concat(concat(batch_shape, left_shape), right_shape);
  return {y.shape() == shape ? y : reshape(y, shape), concat(concat(batch, left), right)};
}

// The number of multiplications of a pair: the product of the sizes of all its labels.
double cost_of(const Term& a, const Term& b) {
  double cost = 1;
  for (const int64_t label : a.labels) cost *= double(a.size_of(label));
  for (const int64_t label : b.labels)
    if (!contains(a.set(), label)) cost *= double(b.size_of(label));
  return cost;
}

// Contracts the cheapest pair until one term is left; of equally cheap pairs the first one.
Tensor contract_all(std::vector<Term> terms, const Dims& output) {
  LabelSet wanted = 0;
  for (const int64_t label : output) wanted |= LabelSet(1) << label;
  while (terms.size() > 1) {
    size_t first = 0, second = 1;
    double least = -1;
    for (size_t i = 0; terms.size() > 2 && i < terms.size(); ++i)
      for (size_t j = i + 1; j < terms.size(); ++j) {
        const double cost = cost_of(terms[i], terms[j]);
        if (least >= 0 && cost >= least) continue;
        least = cost;
        first = i;
        second = j;
      }
    LabelSet needed = wanted;
    for (size_t i = 0; i < terms.size(); ++i)
      if (i != first && i != second) needed |= terms[i].set();
    terms[first] = contract(terms[first], terms[second], needed);
    terms.erase(terms.begin() + int64_t(second));
  }
  return in_label_order(summed(terms[0], wanted), output);
}

// --- einsum: the equation ---

struct Labels {
  std::vector<int> before, after;  // the labels before and after the ellipsis
  bool ellipsis = false;
  int count() const { return int(before.size() + after.size()); }
};

Labels read_labels(std::string_view part, std::string_view equation) {
  Labels labels;
  for (size_t i = 0; i < part.size(); ++i) {
    const char c = part[i];
    if (c == ' ') continue;
    if (part.substr(i, 3) == "..." && !labels.ellipsis) {
      labels.ellipsis = true;
      i += 2;
      continue;
    }
    const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
    if (!upper && !lower)
      fail("einsum: letters, commas, one '...' for each operand and '->' expected in \"", equation,
           "\" (found '", std::string(1, c), "')");
    (labels.ellipsis ? labels.after : labels.before).push_back(upper ? c - 'A' : c - 'a' + 26);
  }
  return labels;
}

std::string label_name(int64_t label) {
  return label >= kEllipsis ? "..." : std::string(1, char(label < 26 ? 'A' + label : 'a' + label - 26));
}

// The labels, with `dims` dims in place of the ellipsis.
std::vector<int> spelled_out(const Labels& labels, int dims) {
  std::vector<int> all = labels.before;
  for (int i = 0; i < (labels.ellipsis ? dims : 0); ++i) all.push_back(kLabels - dims + i);
  all.insert(all.end(), labels.after.begin(), labels.after.end());
  return all;
}

// One dim for each label: dims with the same label are replaced by their diagonal.
Term term_of(Tensor x, std::vector<int> labels, size_t operand) {
  for (size_t i = 0; i < labels.size(); ++i)
    for (size_t j = i + 1; j < labels.size(); ++j) {
      if (labels[i] != labels[j]) continue;
      if (x.size(int(i)) != x.size(int(j)))
        fail("einsum: label '", label_name(labels[i]), "' names dims of sizes ", x.size(int(i)), " and ",
             x.size(int(j)), " of operand ", operand + 1);
      x = movedim(diagonal(x, 0, int(i), int(j)), {-1}, {int64_t(i)});
      labels.erase(labels.begin() + int64_t(j--));
    }
  Term term{x, {}};
  for (const int label : labels) term.labels.push_back(label);
  return term;
}

// Without "->" the result has the ellipsis, then in alphabetical order the labels that occur once.
Dims implied_output(const std::vector<Labels>& inputs, int dims) {
  int times[kLabels] = {};
  for (const Labels& labels : inputs)
    for (const int label : spelled_out(labels, 0)) ++times[label];
  Dims output;
  for (int i = 0; i < dims; ++i) output.push_back(kLabels - dims + i);
  for (int label = 0; label < kEllipsis; ++label)
    if (times[label] == 1) output.push_back(label);
  return output;
}

// Checks that each label has one size, or 1, in all terms; returns the labels.
LabelSet check_sizes(const std::vector<Term>& terms) {
  int64_t known[kLabels];
  std::fill_n(known, kLabels, int64_t(1));
  LabelSet all = 0;
  for (const Term& term : terms)
    for (int d = 0; d < term.labels.size(); ++d) {
      const int64_t label = term.labels[d], size = term.x.size(d);
      if (size != 1 && known[label] != 1 && size != known[label])
        fail("einsum: label '", label_name(label), "' names dims of sizes ", known[label], " and ", size);
      if (size != 1) known[label] = size;
      all |= LabelSet(1) << label;
    }
  return all;
}

Operands einsum_compose(const Call& call) {
  const std::string& equation = interned(uint32_t(call.integer(0)));
  const size_t arrow = equation.find("->");
  std::vector<Labels> inputs;
  for (std::string_view rest = std::string_view(equation).substr(0, arrow);;) {
    const size_t comma = rest.find(',');
    inputs.push_back(read_labels(rest.substr(0, comma), equation));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (inputs.size() != call.in.size())
    fail("einsum: \"", equation, "\" is for ", inputs.size(), " operands (got ", call.in.size(), ")");

  int ellipsis_dims = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = call.in[i];
    if (inputs[i].ellipsis ? x.ndim() < inputs[i].count() : x.ndim() != inputs[i].count())
      fail("einsum: \"", equation, "\" names ", inputs[i].count(), " dims of operand ", i + 1,
           ", which has shape ", x.shape());
    if (x.dtype() != call.in[0].dtype())
      fail("einsum: operands have types ", call.in[0].dtype(), " and ", x.dtype(),
           "; convert one of them with to()");
    if (inputs[i].ellipsis) ellipsis_dims = std::max(ellipsis_dims, x.ndim() - inputs[i].count());
  }
  std::vector<Term> terms;
  for (size_t i = 0; i < inputs.size(); ++i)
    terms.push_back(term_of(call.in[i], spelled_out(inputs[i], call.in[i].ndim() - inputs[i].count()), i));
  const LabelSet known = check_sizes(terms);

  if (arrow == std::string::npos)
    return {contract_all(std::move(terms), implied_output(inputs, ellipsis_dims))};
  Dims output;
  LabelSet named = 0;
  for (const int label :
       spelled_out(read_labels(std::string_view(equation).substr(arrow + 2), equation), ellipsis_dims)) {
    if (!contains(known, label))
      fail("einsum: the result of \"", equation, "\" names '", label_name(label), "', which no operand has");
    if (contains(named, label))
      fail("einsum: the result of \"", equation, "\" names '", label_name(label), "' more than once");
    named |= LabelSet(1) << label;
    output.push_back(label);
  }
  return {contract_all(std::move(terms), output)};
}
const Op kEinsum{.name = "einsum",
                 .doc = "The sum of products of operands that equation describes, such as \"bij,bjk->bik\".",
                 .inputs = {{.name = "operands", .list = true}},
                 .params = {{"equation", ParamKind::text, {}}},
                 .compose = einsum_compose,
                 .family = OpFamily::linear_algebra,
                 .order = {"equation", "operands"}};

// --- tensordot ---

Operands tensordot_compose(const Call& call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  if (a.dtype() != b.dtype())
    fail("tensordot: operands have types ", a.dtype(), " and ", b.dtype(), "; convert one of them with to()");
  Dims of_a, of_b;
  if (call.params[1].present() || call.params[2].present()) {
    if (!call.params[1].present() || !call.params[2].present())
      fail("tensordot: dims of both operands are needed");
    of_a = call.list(1);
    of_b = call.list(2);
  } else {
    const int64_t count = call.integer(0);
    if (count < 0 || count > a.ndim() || count > b.ndim())
      fail("tensordot: shapes ", a.shape(), " and ", b.shape(), " do not share ", count, " dims");
    for (int i = 0; i < count; ++i) {
      of_a.push_back(a.ndim() - count + i);
      of_b.push_back(i);
    }
  }
  if (of_a.size() != of_b.size())
    fail("tensordot: ", of_a.size(), " dims of the first operand for ", of_b.size(), " of the second");
  if (!of_a.empty()) {
    dim_mask("tensordot", of_a, a.shape());
    dim_mask("tensordot", of_b, b.shape());
  }
  Term left{a, {}}, right{b, {}};
  for (int d = 0; d < a.ndim(); ++d) left.labels.push_back(d);
  for (int d = 0; d < b.ndim(); ++d) right.labels.push_back(kMaxDims + d);
  LabelSet summed_over = 0;
  for (int i = 0; i < of_a.size(); ++i) {
    const int x = normalize_dim("tensordot", of_a[i], a.shape());
    const int y = normalize_dim("tensordot", of_b[i], b.shape());
    if (a.ndim() == 0 || b.ndim() == 0) fail("tensordot: a scalar tensor has no dims");
    if (a.size(x) != b.size(y) && a.size(x) != 1 && b.size(y) != 1)
      fail("tensordot: dim ", x + 1, " of shape ", a.shape(), " does not fit dim ", y + 1, " of shape ",
           b.shape());
    right.labels[y] = x;
    summed_over |= LabelSet(1) << x;
  }
  const Dims output = concat(labels_in(left, ~summed_over), labels_in(right, ~summed_over));
  return {contract_all({left, right}, output)};
}
const Op kTensordot{
    .name = "tensordot",
    .doc = "Sums of products over the last dims of a and the first of b, or over a list of dims of each.",
    .inputs = {{"a"}, {"b"}},
    .params = {{"dims", ParamKind::integer, 2},
               {.name = "dims_self", .kind = ParamKind::dims, .optional = true},
               {.name = "dims_other", .kind = ParamKind::dims, .optional = true}},
    .compose = tensordot_compose,
    .family = OpFamily::linear_algebra};

}  // namespace

Tensor einsum(std::string_view equation, const TensorList& operands) {
  return apply1(kEinsum, operands, {int64_t(intern(equation))});
}
Tensor tensordot(const Tensor& a, const Tensor& b, const Dims& dims_self, const Dims& dims_other) {
  return apply1(kTensordot, {a, b}, {0, Value(dims_self), Value(dims_other)});
}

std::span<const Op* const> einsum_ops() {
  static const Op* const ops[] = {&kEinsum, &kTensordot};
  return ops;
}

}  // namespace lunagrad
