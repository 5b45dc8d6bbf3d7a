// Memory access of shaders: by 64-bit addresses, one element of any type at a time. The types are numbered as
// in runtime/core/dtype.h. kNumber: the address itself is the value. kAbsent: there is no operand. kRaw16: 16 bits
// without a conversion. A real number that is stored as a complex one gets the imaginary part 0.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_spirv_intrinsics : require

// IEEE 754 behaviour of NaN, infinities and the sign of zero in f32 (SPV_KHR_float_controls, SignedZeroInfNanPreserve).
// PipelineMaker removes it on devices that lack it.
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4466], 4461, 32);
// The same for subnormal numbers (DenormPreserve).
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4464], 4459, 32);

const uint kBool = 0, kU8 = 1, kI32 = 2, kI64 = 3, kF16 = 4, kBF16 = 5, kF32 = 6, kF64 = 7, kC64 = 8;
const uint kNumber = 10, kAbsent = 11, kRaw16 = 12;

layout(buffer_reference, scalar, buffer_reference_align = 1) buffer U8Element { uint8_t at; };
layout(buffer_reference, scalar, buffer_reference_align = 2) buffer U16Element { uint16_t at; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer I32Element { int at; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer F32Element { float at; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer F32x4Elements { vec4 at; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer U32x4Elements { uvec4 at; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer U32x2Elements { uvec2 at; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer I64Element { int64_t at; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer U64Element { uint64_t at; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer C64Element { vec2 at; };

float nan() {
  return uintBitsToFloat(0x7fc00000u);
}
float infinity() {
  return uintBitsToFloat(0x7f800000u);
}
bool lg_isnan(float x) {
  return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u;
}

float half_to_float(uint bits) {
  return unpackHalf2x16(bits).x;
}
// Rounds to nearest even, which packHalf2x16() does not guarantee.
uint float_to_half(float x) {
  const uint sign = floatBitsToUint(x) >> 16 & 0x8000u;
  const uint magnitude = floatBitsToUint(x) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;
  if (magnitude < 0x38800000u) {  // below 2^-14: a multiple of 2^-24
    return sign | uint(roundEven(uintBitsToFloat(magnitude) * 16777216.0));
  }
  return sign | ((magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13);
}
float bfloat_to_float(uint bits) {
  return uintBitsToFloat(bits << 16);
}
// The result is in the upper 16 bits; the lower 16 bits are undefined.
uint rounded_to_bfloat(float x) {
  const uint bits = floatBitsToUint(x);
  return lg_isnan(x) ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1u);
}
uint float_to_bfloat(float x) {
  return rounded_to_bfloat(x) >> 16;
}

float load_f32(uint64_t address, int64_t i) {
  return F32Element(address + i * 4).at;
}
void store_f32(uint64_t address, int64_t i, float value) {
  F32Element(address + i * 4).at = value;
}

// Elements 4 i … 4 i + 3. The address is a multiple of 16.
vec4 load_f32x4(uint64_t address, int64_t i) {
  return F32x4Elements(address + i * 16).at;
}
void store_f32x4(uint64_t address, int64_t i, vec4 values) {
  F32x4Elements(address + i * 16).at = values;
}

// The same for f32, f16, bf16, u8 or bool. The address is a multiple of the size of four elements.
vec4 load_four(uint64_t address, int64_t i, uint type) {
  if (type == kF32) return load_f32x4(address, i);
  if (type == kBool || type == kU8) {
    const uint bytes = uint(I32Element(address + i * 4).at);
    return vec4(uvec4(bytes & 0xffu, bytes >> 8 & 0xffu, bytes >> 16 & 0xffu, bytes >> 24));
  }
  const uvec2 bits = U32x2Elements(address + i * 8).at;
  if (type == kF16) return vec4(unpackHalf2x16(bits.x), unpackHalf2x16(bits.y));
  return uintBitsToFloat(uvec4(bits.x << 16, bits.x & 0xffff0000u, bits.y << 16, bits.y & 0xffff0000u));
}
void store_four(uint64_t address, int64_t i, uint type, vec4 values) {
  if (type == kF32) {
    store_f32x4(address, i, values);
    return;
  }
  uvec4 bits;
  if (type == kBool) {  // each is 0 or 1
    bits = uvec4(values);
    I32Element(address + i * 4).at = int(bits.x | bits.y << 8 | bits.z << 16 | bits.w << 24);
    return;
  }
  if (type == kF16) {
    [[unroll]] for (uint j = 0; j < 4; ++j) bits[j] = float_to_half(values[j]);
    U32x2Elements(address + i * 8).at = bits.xz | bits.yw << 16;
    return;
  }
  [[unroll]] for (uint j = 0; j < 4; ++j) bits[j] = rounded_to_bfloat(values[j]);
  U32x2Elements(address + i * 8).at = bits.xz >> 16 | (bits.yw & 0xffff0000u);
}

// Element i as a float.
float load_float(uint64_t address, int64_t i, uint type) {
  switch (type) {
    case kBool:
    case kU8: return float(uint(U8Element(address + i).at));
    case kI32: return float(I32Element(address + i * 4).at);
    case kI64: return float(I64Element(address + i * 8).at);
    case kF16: return half_to_float(uint(U16Element(address + i * 2).at));
    case kBF16: return bfloat_to_float(uint(U16Element(address + i * 2).at));
    case kF32: return F32Element(address + i * 4).at;
    case kNumber: return uintBitsToFloat(uint(address));
  }
  return 0.0;
}

// Element i of an integer or bool tensor. Bool: bytes 0 and 1.
int64_t load_integer(uint64_t address, int64_t i, uint type) {
  switch (type) {
    case kBool:
    case kU8: return int64_t(uint(U8Element(address + i).at));
    case kI32: return int64_t(I32Element(address + i * 4).at);
    case kI64: return I64Element(address + i * 8).at;
    case kRaw16: return int64_t(uint(U16Element(address + i * 2).at));
    case kNumber: return int64_t(address);
  }
  return 0L;
}

// Conversions as in runtime/core/dtype.h: floats saturate, NaN becomes 0, bool is x != 0.
void store_integer(uint64_t address, int64_t i, uint type, int64_t value) {
  switch (type) {
    case kBool: U8Element(address + i).at = uint8_t(value != 0 ? 1u : 0u); break;
    case kU8: U8Element(address + i).at = uint8_t(uint(value & 255)); break;
    case kI32: I32Element(address + i * 4).at = int(value); break;
    case kI64: I64Element(address + i * 8).at = value; break;
    case kRaw16: U16Element(address + i * 2).at = uint16_t(uint(value & 65535)); break;
    case kF16: U16Element(address + i * 2).at = uint16_t(float_to_half(float(value))); break;
    case kBF16: U16Element(address + i * 2).at = uint16_t(float_to_bfloat(float(value))); break;
    case kF32: F32Element(address + i * 4).at = float(value); break;
    case kC64: C64Element(address + i * 8).at = vec2(float(value), 0.0); break;
  }
}
void store_float(uint64_t address, int64_t i, uint type, float value) {
  switch (type) {
    case kBool: U8Element(address + i).at = uint8_t(value != 0.0 ? 1u : 0u); break;
    case kU8:
      U8Element(address + i).at = uint8_t(lg_isnan(value) ? 0u : uint(clamp(value, 0.0, 255.0)));
      break;
    case kI32:
      I32Element(address + i * 4).at = lg_isnan(value)           ? 0
                                       : value >= 2147483648.0   ? 2147483647
                                       : value <= -2147483648.0  ? int(0x80000000u)
                                                                 : int(value);
      break;
    case kI64:
      I64Element(address + i * 8).at = lg_isnan(value)                    ? 0L
                                       : value >= 9223372036854775808.0   ? 0x7fffffffffffffffL
                                       : value <= -9223372036854775808.0  ? -0x7fffffffffffffffL - 1L
                                                                          : int64_t(value);
      break;
    case kF16: U16Element(address + i * 2).at = uint16_t(float_to_half(value)); break;
    case kBF16: U16Element(address + i * 2).at = uint16_t(float_to_bfloat(value)); break;
    case kF32: F32Element(address + i * 4).at = value; break;
    case kC64: C64Element(address + i * 8).at = vec2(value, 0.0); break;
  }
}

// Element i as a complex number. Storing to a real element stores the real part.
vec2 load_complex(uint64_t address, int64_t i, uint type) {
  return type == kC64 ? C64Element(address + i * 8).at : vec2(load_float(address, i, type), 0.0);
}
void store_complex(uint64_t address, int64_t i, uint type, vec2 value) {
  if (type == kC64)
    C64Element(address + i * 8).at = value;
  else
    store_float(address, i, type, value.x);
}
