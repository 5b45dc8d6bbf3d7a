// The body of every elementwise kernel. The file that the build writes for a row defines T, Params, value()
// and the gradients; MODE chooses among them. Operands are loaded and results stored by their types; a thread
// computes PER_THREAD elements a group's width apart, so that neighbouring threads touch neighbouring memory.
layout(local_size_x = 256) in;

layout(constant_id = 0) const uint MODE = 0;  // 0: the value, i + 1: the gradient of operand i
layout(constant_id = 1) const uint DIMS = 0;  // 0: all operands lie in order, else the merged dims
layout(constant_id = 2) const uint RESULT_TYPE = 6;
layout(constant_id = 3) const uint TYPE_0 = 6;
layout(constant_id = 4) const uint TYPE_1 = 9;
layout(constant_id = 5) const uint TYPE_2 = 9;
layout(constant_id = 6) const uint TYPE_3 = 9;
layout(constant_id = 7) const uint TYPE_4 = 9;
layout(constant_id = 8) const uint PER_THREAD = 4;

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
};

// The dims, read once: a kernel that stores may not assume that its arguments stay as they are.
uint size[DIMS + 1];
int64_t stride[6][DIMS + 1];

T load(uint64_t address, int64_t i, uint type) {
#ifdef T_IS_INTEGER
  return load_integer(address, i, type);
#else
  return load_float(address, i, type);
#endif
}
T param(uint i) {
#ifdef T_IS_INTEGER
  return int64_t(arguments.param[i]);
#else
  return uintBitsToFloat(uint(arguments.param[i]));
#endif
}
void store(int64_t i, T v) {
#ifdef T_IS_INTEGER
  store_integer(result, i, RESULT_TYPE, v);
#else
  store_float(result, i, RESULT_TYPE, v);
#endif
}
void store(int64_t i, bool v) {
  store_integer(result, i, RESULT_TYPE, v ? 1L : 0L);
}

void element(uint index, Params params) {
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
  const T v0 = load(operand[0], at[1], TYPE_0);
  const T v1 = load(operand[1], at[2], TYPE_1);
  const T v2 = load(operand[2], at[3], TYPE_2);
  if (MODE == 0) {
    store(at[0], value(v0, v1, v2, params));
    return;
  }
#ifdef HAS_GRADIENT
  const T v3 = load(operand[3], at[4], TYPE_3);
  const T v4 = load(operand[4], at[5], TYPE_4);
  store(at[0], gradient(MODE - 1, v0, v1, v2, v3, v4, params));
#endif
}

void main() {
  [[unroll]] for (uint d = 0; d < DIMS; ++d) {
    size[d] = arguments.size[d];
    [[unroll]] for (uint k = 0; k < 6; ++k) stride[k][d] = arguments.stride[k][d];
  }
  const Params params = make_params();
  const uint width = gl_WorkGroupSize.x * PER_THREAD;
  const uint blocks = (count - 1) / width + 1;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x)
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k) {
      const uint index = block * width + k * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
      if (index < count) element(index, params);
    }
}
