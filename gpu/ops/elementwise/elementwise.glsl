// The body of all elementwise kernels. The file that the build writes for a row defines T, Params, value()
// and the gradients; MODE selects one of them. An invocation computes PER_THREAD elements (VECTOR: vectors of
// four elements) that are a workgroup's width apart, so that adjacent invocations access adjacent memory. It
// loads all operands before the first store, since compilers do not move loads before stores.
#ifdef DIVIDES
#include "fault.glsl"
#endif

layout(local_size_x = 256) in;

layout(constant_id = 0) const uint MODE = 0;  // 0: the value, i + 1: the gradient of operand i
layout(constant_id = 1) const uint DIMS = 0;  // dims of the merged shape; 0: all operands are contiguous
layout(constant_id = 2) const uint RESULT_TYPE = 6;
layout(constant_id = 3) const uint TYPE_0 = 6;
layout(constant_id = 4) const uint TYPE_1 = 11;
layout(constant_id = 5) const uint TYPE_2 = 11;
layout(constant_id = 6) const uint TYPE_3 = 11;
layout(constant_id = 7) const uint TYPE_4 = 11;
layout(constant_id = 8) const uint PER_THREAD = 4;
// Accesses floats in aligned vectors of four along the innermost dim, whose size then counts vectors. The
// other strides of operands with vectors also count vectors. Operands that are broadcast along that dim have
// single elements.
layout(constant_id = 9) const bool VECTOR = false;
// for integers: the computation type, to which larger operands wrap around
layout(constant_id = 10) const uint COMPUTED = 3;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t param[3];
  uint size[8];
  int64_t stride[6][8];  // of the result, then of the operands
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
  uint64_t result;
  uint64_t operand[5];
  uint count;
#ifdef DIVIDES
  uint fault_kind;
  uint64_t fault;
#endif
};

// Local copies of the dims, since compilers must assume that stores change the arguments.
uint size[DIMS + 1];
int64_t stride[6][DIMS + 1];

T load(uint64_t address, int64_t i, uint type) {
#ifdef T_IS_INTEGER
  const int64_t v = load_integer(address, i, type);
  return COMPUTED == kU8 ? v & 255L : COMPUTED == kI32 ? int64_t(int(v)) : v;
#elif defined(T_IS_COMPLEX)
  return load_complex(address, i, type);
#else
  return load_float(address, i, type);
#endif
}
T param(uint i) {
#ifdef T_IS_INTEGER
  return int64_t(arguments.param[i]);
#elif defined(T_IS_COMPLEX)
  // The imaginary part is 0, but compilers must not know it: some would drop products with it.
  return uintBitsToFloat(uvec2(uint(arguments.param[i]), uint(arguments.param[i] >> 32)));
#else
  return uintBitsToFloat(uint(arguments.param[i]));
#endif
}
void store(int64_t i, T v) {
#ifdef T_IS_INTEGER
  store_integer(result, i, RESULT_TYPE, v);
#elif defined(T_IS_COMPLEX)
  store_complex(result, i, RESULT_TYPE, v);
#else
  store_float(result, i, RESULT_TYPE, v);
#endif
}
void store(int64_t i, bool v) {
  store_integer(result, i, RESULT_TYPE, v ? 1L : 0L);
}

struct Operands {
  T v0, v1, v2, v3, v4;
};

// The positions of element or vector `index` of the result.
int64_t[6] positions(uint index) {
  int64_t at[6];
  if (DIMS == 0) {
    [[unroll]] for (uint k = 0; k < 6; ++k) at[k] = int64_t(index);
  } else {
    [[unroll]] for (uint k = 0; k < 6; ++k) at[k] = 0;
    [[unroll]] for (int d = int(DIMS) - 1; d >= 0; --d) {
      const uint place = d == 0 ? index : index % size[d];
      index = d == 0 ? 0 : index / size[d];
      [[unroll]] for (uint k = 0; k < 6; ++k) at[k] += int64_t(place) * stride[k][d];
    }
  }
  return at;
}

// Loads the operands of element `index` of the result and returns the element's position.
int64_t gather(uint index, out Operands operands) {
  const int64_t at[6] = positions(index);
  operands.v0 = load(operand[0], at[1], TYPE_0);
  operands.v1 = load(operand[1], at[2], TYPE_1);
  operands.v2 = load(operand[2], at[3], TYPE_2);
#ifdef HAS_GRADIENT
  if (MODE != 0) {
    operands.v3 = load(operand[3], at[4], TYPE_3);
    operands.v4 = load(operand[4], at[5], TYPE_4);
  }
#endif
  return at[0];
}

void compute(int64_t at, Operands o, Params params) {
  if (MODE == 0)
    store(at, value(o.v0, o.v1, o.v2, params));
#ifdef HAS_GRADIENT
  else
    store(at, gradient(MODE - 1, o.v0, o.v1, o.v2, o.v3, o.v4, params));
#endif
}

#ifdef HAS_VECTORS
const uint kInner = DIMS == 0 ? 0 : DIMS - 1;
vec4 load_vector(uint operand_at, int64_t at, uint type) {
  const uint64_t address = operand[operand_at];
  if (type == kNumber) return vec4(uintBitsToFloat(uint(address)));
  if (type == kAbsent) return vec4(0);
  if (DIMS > 0 && stride[operand_at + 1][kInner] == 0) return vec4(load(address, at, type));
  return load_four(address, at, type);
}

float result_of(float v0, float v1, float v2, float v3, float v4, Params params) {
#ifdef HAS_GRADIENT
  if (MODE != 0) return gradient(MODE - 1, v0, v1, v2, v3, v4, params);
#endif
  return float(value(v0, v1, v2, params));
}

void compute_vectors(uint first, uint step, uint end, Params params) {
  vec4 v[5][PER_THREAD];
  int64_t to[PER_THREAD];
  [[unroll]] for (uint k = 0; k < PER_THREAD; ++k) {
    const uint i = first + k * step;
    if (i >= end) continue;
    const int64_t at[6] = positions(i);
    to[k] = at[0];
    v[0][k] = load_vector(0, at[1], TYPE_0);
    v[1][k] = load_vector(1, at[2], TYPE_1);
    v[2][k] = load_vector(2, at[3], TYPE_2);
    if (MODE == 0) continue;
    v[3][k] = load_vector(3, at[4], TYPE_3);
    v[4][k] = load_vector(4, at[5], TYPE_4);
  }
  [[unroll]] for (uint k = 0; k < PER_THREAD; ++k) {
    const uint i = first + k * step;
    if (i >= end) continue;
    vec4 results;
    [[unroll]] for (uint j = 0; j < 4; ++j)
      results[j] = result_of(v[0][k][j], v[1][k][j], v[2][k][j], v[3][k][j], v[4][k][j], params);
    store_four(result, to[k], RESULT_TYPE, results);
  }
}
#endif

void main() {
  [[unroll]] for (uint d = 0; d < DIMS; ++d) {
    size[d] = arguments.size[d];
    [[unroll]] for (uint k = 0; k < 6; ++k) stride[k][d] = arguments.stride[k][d];
  }
  const Params params = make_params();
  const uint end = VECTOR ? count / 4 : count, apart = gl_WorkGroupSize.x, width = apart * PER_THREAD;
  const uint blocks = (end - 1) / width + 1;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const uint first = block * width + gl_LocalInvocationID.x;
#ifdef HAS_VECTORS
    if (VECTOR) {
      compute_vectors(first, apart, end, params);
      continue;
    }
#endif
    Operands operands[PER_THREAD];
    int64_t at[PER_THREAD];
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k)
      if (first + k * apart < end) at[k] = gather(first + k * apart, operands[k]);
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k)
      if (first + k * apart < end) compute(at[k], operands[k], params);
  }
#ifdef DIVIDES
  if (divided_by_zero) note_fault(fault, fault_kind, 0, 0, 0);
#endif
}
