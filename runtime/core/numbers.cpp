#include "runtime/core/numbers.h"

#include <complex>

#include "runtime/core/device.h"
#include "runtime/core/random.h"

namespace lunagrad {

std::vector<double> numbers_of(const Tensor& x) {
  if (!is_complex(x.dtype())) return x.to_vector<double>();
  std::vector<double> parts;
  for (const std::complex<double>& z : x.to_vector<std::complex<double>>()) {
    parts.push_back(z.real());
    parts.push_back(z.imag());
  }
  return parts;
}

Tensor from_numbers(const std::vector<double>& numbers, const Shape& shape, bool complex, Device& device) {
  return Tensor::from_bytes(numbers.data(), numbers.size() * sizeof(double), shape,
                            complex ? DType::c128 : DType::f64, device);
}

Tensor contraction_weights(const Tensor& output, uint64_t stream) {
  const bool complex = is_complex(output.dtype());
  std::vector<double> weights(size_t(output.numel()) * (complex ? 2 : 1));
  for (size_t i = 0; i < weights.size(); ++i) {
    const PhiloxBlock words = philox(0x9e37, stream, i);
    weights[i] = 0.5 + uniform_f64(words[0], words[1]);
  }
  return from_numbers(weights, output.shape(), complex, cpu_device());
}

}  // namespace lunagrad
