// Reduces dims of one or two tensors. A workgroup of 256 invocations computes 256 / ALONG results with ALONG
// invocations each. An invocation reduces every ALONG-th element to a state; then the invocations combine
// their states in shared memory. Adjacent invocations read adjacent memory. With several segments each
// workgroup reduces a part of the elements to a state (kParts), and a second dispatch combines the states
// (kMerge). The including file defines State, Element and Vector, and:
//   State none(), both(State earlier, State later)   the state of no elements; a state that combines two
//   void begin(int64_t base)                         called with the position of a result's first element
//   Element element_at(int64_t at, int64_t other)    an element, from its positions in the operands
//   Vector vector_at(int64_t at, int64_t other)      kVectorSize adjacent elements; the positions count vectors
//   State with(State, Element, uint i)               the state and element i
//   State with_vector(State, Vector, uint i)         the state and elements i ... i + kVectorSize - 1
//   void keep(uint64_t i, State), State kept(uint64_t i)   states in global memory
//   void finish(uint index, State)                   stores a result
#include "divisor.glsl"
layout(local_size_x = 256) in;
layout(constant_id = 0) const uint REDUCTION = 0;
const uint kSum = 0, kLargest = 1, kSmallest = 2, kProduct = 3;
layout(constant_id = 1) const uint ALONG = 256;
layout(constant_id = 2) const bool ALONG_CONTIGUOUS = true;
layout(constant_id = 3) const uint TYPE = 6;
layout(constant_id = 4) const uint RESULT_TYPE = 6;
layout(constant_id = 5) const uint REDUCED_DIMS = 1;
// Elements are adjacent and aligned to vectors. The sizes and strides of the reduced dims then count vectors,
// and the loop has no 64-bit division, which takes longer than its loads.
layout(constant_id = 6) const bool VECTOR = false;
layout(constant_id = 7) const uint STAGE = 0;
const uint kWhole = 0, kParts = 1, kMerge = 2;
layout(constant_id = 8) const uint OTHER_TYPE = 11;  // type of the second operand
layout(constant_id = 9) const uint MAP = 0;          // the function of each element that is reduced (reduce_f32.comp)
const uint kPlain = 0, kMagnitude = 1, kSquare = 2, kPower = 3, kWithoutNan = 4, kFiniteMagnitude = 5;
const uint kTimes = 6, kSquaredError = 7, kHuber = 8, kCrossEntropy = 9, kDivergence = 10, kLogDivergence = 11;
const uint kApart = 12, kDiffers = 13;  // the size of a difference; 1 where it is not 0
layout(constant_id = 10) const uint END = 0;  // the function of a reduced value
const uint kScaled = 0, kRoot = 1;
layout(constant_id = 11) const bool SECOND = false;  // there is a second result
layout(constant_id = 12) const bool WORDS = false;   // reduce_truth.comp: computes four results at a time

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, second;
  uint64_t operand, other;
  uint64_t parts;  // states [segments, results]
  uint results;    // results per segment
  uint reduced;    // elements per result
  uint segments;
  uint segment;    // elements per segment
  float factor;    // of the result
  float exponent;  // a parameter of the map
  uint kept_dims;
  float shift;     // is added to a difference
  uint kept_size[8], reduced_size[8];
  Divisor reduced_by[8];  // divisors: the reduced sizes
  int64_t kept_stride[2][8], reduced_stride[2][8];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

const bool kTwo = OTHER_TYPE != kAbsent;
// Elements or vectors that an invocation loads before it reduces them, so that the loads overlap. Not a
// specialization constant: an array with such a length stays in memory.
const uint kTogether = 4;

State none();
State both(State earlier, State later);
void begin(int64_t base);
Element element_at(int64_t at, int64_t other);
Vector vector_at(int64_t at, int64_t other);
State with(State state, Element element, uint i);
State with_vector(State state, Vector vector, uint i);
void keep(uint64_t i, State state);
State kept(uint64_t i);
void finish(uint index, State state);

shared State meeting[256];

// The positions in both operands.
struct Places {
  int64_t one, other;
};
Places kept_places(uint index) {
  Places places = Places(0, 0);
  for (int d = int(arguments.kept_dims) - 1; d >= 0; --d) {
    const int64_t place = int64_t(index % arguments.kept_size[d]);
    places.one += place * arguments.kept_stride[0][d];
    if (kTwo) places.other += place * arguments.kept_stride[1][d];
    index /= arguments.kept_size[d];
  }
  return places;
}
// Positions of element i, or with VECTOR of vector i, relative to `base`.
Places reduced_places(Places base, uint i) {
  [[unroll]] for (int d = int(REDUCED_DIMS) - 1; d >= 0; --d) {
    const uint rest = d > 0 ? quotient(i, arguments.reduced_by[d]) : 0;
    const int64_t place = int64_t(i - rest * arguments.reduced_size[d]);
    if (VECTOR && d == int(REDUCED_DIMS) - 1) {
      base = Places(base.one + place, base.other + place);
    } else {
      base.one += place * arguments.reduced_stride[0][d];
      if (kTwo) base.other += place * arguments.reduced_stride[1][d];
    }
    i = rest;
  }
  return base;
}

Element load(Places base, uint i) {
  const Places at = reduced_places(base, i);
  return element_at(at.one, at.other);
}
Vector load_vector(Places base, uint i) {
  const Places at = reduced_places(base, i);
  return vector_at(at.one, at.other);
}

State reduce_segment(Places base, uint first, uint last, uint along) {
  State state = none();
  if (VECTOR) {
    base = Places(base.one / kVectorSize, base.other / kVectorSize);
    uint i = first / kVectorSize + along;
    for (; i + (kTogether - 1) * ALONG < last / kVectorSize; i += kTogether * ALONG) {
      Vector vectors[kTogether];
      [[unroll]] for (uint k = 0; k < kTogether; ++k) vectors[k] = load_vector(base, i + k * ALONG);
      [[unroll]] for (uint k = 0; k < kTogether; ++k) state = with_vector(state, vectors[k], (i + k * ALONG) * kVectorSize);
    }
    for (; i < last / kVectorSize; i += ALONG) state = with_vector(state, load_vector(base, i), i * kVectorSize);
    return state;
  }
  uint i = first + along;
  for (; i + (kTogether - 1) * ALONG < last; i += kTogether * ALONG) {
    Element elements[kTogether];
    [[unroll]] for (uint k = 0; k < kTogether; ++k) elements[k] = load(base, i + k * ALONG);
    [[unroll]] for (uint k = 0; k < kTogether; ++k) state = with(state, elements[k], i + k * ALONG);
  }
  for (; i < last; i += ALONG) state = with(state, load(base, i), i);
  return state;
}

void main() {
  const uint side = 256 / ALONG;
  const uint along = ALONG_CONTIGUOUS ? gl_LocalInvocationID.x % ALONG : gl_LocalInvocationID.x / side;
  const uint beside = ALONG_CONTIGUOUS ? gl_LocalInvocationID.x / ALONG : gl_LocalInvocationID.x % side;
  const uint segments = STAGE == kParts ? arguments.segments : 1;
  const uint blocks = (arguments.results + side - 1) / side * segments;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const uint segment = block % segments;
    const uint index = block / segments * side + beside;
    State state = none();
    if (index < arguments.results) {
      if (STAGE == kMerge) {
        for (uint s = along; s < arguments.segments; s += ALONG)
          state = both(state, kept(uint64_t(s) * arguments.results + index));
      } else {
        const Places base = kept_places(index);
        begin(base.one);
        const uint first = segment * arguments.segment;
        state = reduce_segment(base, first, min(first + arguments.segment, arguments.reduced), along);
      }
    }
    if (ALONG > 1) {
      barrier();
      meeting[beside * ALONG + along] = state;
      [[unroll]] for (uint apart = ALONG / 2; apart > 0; apart /= 2) {
        barrier();
        if (along < apart)
          meeting[beside * ALONG + along] =
              both(meeting[beside * ALONG + along], meeting[beside * ALONG + along + apart]);
      }
      state = meeting[beside * ALONG];
    }
    if (along != 0 || index >= arguments.results) continue;
    if (STAGE == kParts)
      keep(uint64_t(segment) * arguments.results + index, state);
    else
      finish(index, state);
  }
}
