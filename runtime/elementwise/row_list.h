#pragma once
// The rows of elementwise.def as an enumeration, with their types and facts: what a kernel needs to know. It
// includes no tensors, so that a change of a tensor compiles no kernel again. Constants.
#include <cstdint>

namespace lunagrad {

#define EW1(name, params, types, result, facts, value, gx, lo, hi, doc) name,
#define EW2(name, inputs, params, types, result, facts, value, ga, gb, lo, hi, doc) name,
#define EW3(name, inputs, params, types, result, facts, value, ga, gb, gc, lo, hi, doc) name,
enum class Row : int {
#include "runtime/elementwise/elementwise.def"
};
#define EW1(name, params, types, result, facts, value, gx, lo, hi, doc) +1
#define EW2(name, inputs, params, types, result, facts, value, ga, gb, lo, hi, doc) +1
#define EW3(name, inputs, params, types, result, facts, value, ga, gb, gc, lo, hi, doc) +1
inline constexpr int kRowCount = 0
#include "runtime/elementwise/elementwise.def"
    ;

enum class RowTypes : uint8_t { kfloat, knumber, kany, kinteger };  // the types column

// The facts column as bits, see elementwise.def.
namespace row_facts {
enum : unsigned { plain = 0, complex = 1, real_valued = 2, upcast = 4 };
#define EW1(name, params, types, result, facts, value, gx, lo, hi, doc) facts,
#define EW2(name, inputs, params, types, result, facts, value, ga, gb, lo, hi, doc) facts,
#define EW3(name, inputs, params, types, result, facts, value, ga, gb, gc, lo, hi, doc) facts,
inline constexpr unsigned kOfRow[] = {
#include "runtime/elementwise/elementwise.def"
};
}  // namespace row_facts

constexpr bool has_fact(Row row, unsigned fact) { return row_facts::kOfRow[int(row)] & fact; }
constexpr bool takes_complex(Row row) { return has_fact(row, row_facts::complex); }
constexpr bool is_real_valued(Row row) { return has_fact(row, row_facts::real_valued); }

}  // namespace lunagrad
