#include "runtime/core/memory_limit.h"
#include "runtime/core/tensor.h"
#include "runtime/cpu/pieces.h"
#include "runtime/ops.h"

namespace lunagrad {

template <class T>
std::vector<T> Tensor::to_vector() const {
  if (!is_number()) context().check_may_read();
  const NoGrad off;
  storage().check_whole("to_vector");
  const Tensor dense = lunagrad::contiguous(to(*this, cpu_device()));
  check_room(static_cast<size_t>(numel()), sizeof(T));
  std::vector<T> values(static_cast<size_t>(numel()));
  if (!is_complex_v<T> && is_complex(dtype())) refuse_complex(dtype());
  visit_any_dtype(dtype(), [&]<class From>() {
    in_pieces(numel(), [from = static_cast<const From*>(dense.data<From>()), to = values.data()](
                           int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = convert<T>(from[i]);
    });
  });
  return values;
}
template std::vector<float> Tensor::to_vector() const;
template std::vector<double> Tensor::to_vector() const;
template std::vector<int64_t> Tensor::to_vector() const;
template std::vector<int32_t> Tensor::to_vector() const;
template std::vector<uint8_t> Tensor::to_vector() const;
template std::vector<std::complex<double>> Tensor::to_vector() const;

}  // namespace lunagrad
