#include "runtime/statistics/value_figures.h"

#include "runtime/core/context.h"
#include "runtime/ops.h"

namespace lunagrad {

size_t FigureCollector::add(const Tensor& x) {
  const NoGrad off;
  sketches_.add(x);
  return summaries_.add(is_differentiable(x.dtype()) ? x : to(x, DType::f32));
}

std::vector<ValueFigures> FigureCollector::read() {
  const std::vector<Summary> summaries = summaries_.read();
  const std::vector<Sketch> sketches = sketches_.read();
  std::vector<ValueFigures> all(summaries.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = {summaries[i], sketches[i]};
  return all;
}

void FigureCollector::clear() {
  summaries_.clear();
  sketches_.clear();
}

size_t FigureCollector::append(FigureCollector&& other) {
  sketches_.append(std::move(other.sketches_));
  return summaries_.append(std::move(other.summaries_));
}

}  // namespace lunagrad
