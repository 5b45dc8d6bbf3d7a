// A host in C++11 without exceptions and run-time types: owns handles by classes, and closes its engine last.
#include <utility>

#include "check.h"

namespace {

class Tensor {
 public:
  explicit Tensor(lg_tensor* handle) : handle_(handle) {}
  Tensor(Tensor&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  Tensor(const Tensor&) = delete;
  ~Tensor() { OK(lg_tensor_release(handle_)); }
  lg_tensor* get() const { return handle_; }

 private:
  lg_tensor* handle_;
};

}  // namespace

int main() {
  lg_engine_options options = {};
  options.struct_size = sizeof options;
  lg_engine* engine = nullptr;
  OK(lg_engine_open(&options, &engine));
  {
    const float values[] = {1, 2, 3, 4};
    const Tensor x(floats(engine, values, 2, 2));
    const lg_param exponent = real_param("exponent", 2);
    Tensor squares(call1(engine, "pow", x.get(), nullptr, &exponent, 1));
    const Tensor moved = std::move(squares);
    const lg_param dtype = text_param("dtype", "f64"), dim = integer_param("dim", 0);
    const lg_param both[] = {dim, dtype};
    const Tensor sums(call1(engine, "sum", moved.get(), nullptr, both, 2));
    double read[2] = {};
    OK(lg_tensor_read(sums.get(), read, sizeof read));
    CHECK(read[0] == 10 && read[1] == 20);
    lg_tensor* const pair[] = {x.get(), sums.get()};  // dtypes that do not fit: an exception inside
    GIVES(LG_VALUE, lg_call(engine, op_named("matmul"), pair, 2, nullptr, 0, nullptr, nullptr));
  }
  OK(lg_engine_close(engine));
  return end_of_checks("no exceptions");
}
