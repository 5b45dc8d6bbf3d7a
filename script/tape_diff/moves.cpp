#include "script/tape_diff/moves.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lunagrad {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

double magnitude(const Summary& s) {
  const int64_t finite = s.count - s.nans - s.infs;
  return finite > 0 ? s.norm / std::sqrt(double(finite)) : 0;
}

// |ln(a / b)| of the magnitudes, scaled down for few elements, which differ by chance: a single element says
// next to nothing. A value that is all zero on one side, as a bias before its first step, counts as a ratio
// of e^2.
double change_of_scale(const Summary& a, const Summary& b) {
  constexpr double kFromZero = 2;
  const double x = magnitude(a), y = magnitude(b);
  if (x == y || !std::isfinite(x) || !std::isfinite(y)) return 0;
  const double ratio = x == 0 || y == 0 ? kFromZero : std::abs(std::log(x) - std::log(y));
  return ratio * double(a.count) / double(a.count + 8);
}

// A run's folder has figures of six digits, with a sketch; the window has all digits and no sketch. What the
// two round differently is no difference.
double rounding(const TapeValue& a, const TapeValue& b) {
  constexpr double kOfSixDigits = 1e-5;  // rounding errs by at most half of it
  return a.sketch.has_value() != b.sketch.has_value() ? kOfSixDigits : 0;
}

// The window knows the sum of a leaf's gradients over all passes and since zero_grad(), a run's folder the
// gradient of the recorded pass.
bool same_quantity(const TapeNode& a, const TapeNode& b) {
  return a.kind != TapeNodeKind::leaf || !a.gradient || !b.gradient ||
         a.gradient->sketch.has_value() == b.gradient->sketch.has_value();
}

}  // namespace

TapeMove measure(const std::optional<TapeValue>& left, const std::optional<TapeValue>& right,
                 const TapeDiffOptions& options) {
  TapeMove move;
  if (!left || !right || left->summary.count != right->summary.count) return move;
  move.known = true;
  const Summary &a = left->summary, &b = right->summary;
  const double largest = std::max(a.largest(), b.largest()), norm = std::max(a.norm, b.norm),
               elements = std::sqrt(double(a.count));
  double distance = std::abs(a.norm - b.norm);
  if (left->sketch && right->sketch)
    // The norms bound the distance from below and above.
    distance = std::max(distance,
                        std::min(a.norm + b.norm, sketch_distance(*left->sketch, *right->sketch, a.count)));
  const double rtol = std::max(options.rtol, rounding(*left, *right));
  const auto far = [&](double difference, double scale, double parts) {
    return difference > options.atol * parts + rtol * scale;
  };
  const bool not_finite = a.nans != b.nans || a.infs != b.infs;
  move.moved = not_finite || far(std::abs(a.min - b.min), largest, 1) ||
               far(std::abs(a.max - b.max), largest, 1) || far(std::abs(a.mean - b.mean), largest, 1) ||
               far(distance, norm, elements);
  if (!move.moved) return move;
  move.distance = norm > 0 && std::isfinite(distance) ? distance / norm : 0;
  // Differences of extremes and means say little about the distance. They are used so that no move gets a
  // distance of 0.
  const double others =
      std::max({std::abs(a.min - b.min), std::abs(a.max - b.max), std::abs(a.mean - b.mean)});
  if (move.distance == 0 && largest > 0 && std::isfinite(others)) move.distance = others / largest;
  // Distances above 1 all say the same: the values have nothing in common.
  move.score = std::min(move.distance, 1.0) + change_of_scale(a, b);
  if (not_finite)
    move.score += 20 + double(std::abs(a.nans - b.nans) + std::abs(a.infs - b.infs)) / double(a.count);
  return move;
}

namespace {

// The largest move that the pair's value can explain in its readers. `from_inputs`: what its own inputs
// explain.
double explained(const TapeDiff& diff, const TapePair& pair, const TapeMove& move, double from_inputs) {
  if (pair.a < 0 || pair.b < 0) return kUnknown;
  if (diff.a.nodes[size_t(pair.a)].shape != diff.b.nodes[size_t(pair.b)].shape) return kUnknown;
  return move.known ? move.score : from_inputs;
}

}  // namespace

void measure_moves(TapeDiff& diff, const std::vector<size_t>& pair_of_a,
                   const std::vector<size_t>& pair_of_b) {
  // The largest moves that each pair's value and gradient can explain.
  std::vector<double> values(diff.pairs.size()), gradients(diff.pairs.size());
  std::vector<std::vector<size_t>> readers(diff.pairs.size());
  const auto both = [&](const TapePair& pair, auto&& visit) {
    if (pair.a >= 0)
      for (const int input : diff.a.nodes[size_t(pair.a)].inputs)
        if (input >= 0) visit(pair_of_a[size_t(input)]);
    if (pair.b >= 0)
      for (const int input : diff.b.nodes[size_t(pair.b)].inputs)
        if (input >= 0) visit(pair_of_b[size_t(input)]);
  };
  // In each tape inputs come first, but the pairs have the order of B, and A's order may differ. A second
  // round handles inputs that the first round reached too late.
  for (int round = 0; round < 2; ++round)
    for (size_t p = 0; p < diff.pairs.size(); ++p) {
      TapePair& pair = diff.pairs[p];
      double from = 0;
      both(pair, [&](size_t input) { from = std::max(from, values[input]); });
      if (pair.a >= 0 && pair.b >= 0) {
        pair.value =
            measure(diff.a.nodes[size_t(pair.a)].value, diff.b.nodes[size_t(pair.b)].value, diff.options);
        pair.value.follows = pair.value.moved && from >= kExplains * pair.value.score;
      }
      values[p] = explained(diff, pair, pair.value, from);
    }
  for (size_t p = 0; p < diff.pairs.size(); ++p)
    both(diff.pairs[p], [&](size_t input) { readers[input].push_back(p); });
  // A node's gradient depends on its readers' gradients, results and other inputs.
  for (int round = 0; round < 2; ++round)
    for (size_t p = diff.pairs.size(); p-- > 0;) {
      TapePair& pair = diff.pairs[p];
      double from = values[p];
      for (const size_t reader : readers[p]) {
        from = std::max({from, values[reader], gradients[reader]});
        both(diff.pairs[reader], [&](size_t input) { from = std::max(from, values[input]); });
      }
      if (pair.a >= 0 && pair.b >= 0) {
        const TapeNode &a = diff.a.nodes[size_t(pair.a)], &b = diff.b.nodes[size_t(pair.b)];
        if (same_quantity(a, b)) pair.gradient = measure(a.gradient, b.gradient, diff.options);
        pair.gradient.follows = pair.gradient.moved && from >= kExplains * pair.gradient.score;
      }
      gradients[p] = explained(diff, pair, pair.gradient, from);
    }
}

}  // namespace lunagrad
