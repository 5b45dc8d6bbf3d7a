#pragma once
// Tables of numbers as text: one line per row, columns separated by one character. Strict: every row has the
// same number of columns and every field is a number, otherwise an Error (kind file) names line and column,
// counted from 1. Independent of the locale. Accepts \n and \r\n, a byte-order mark, blanks around fields,
// and empty lines at the end.
#include <string>
#include <vector>

#include "runtime/core/tensor.h"

namespace lunagrad {

struct CsvOptions {
  bool header = false;  // the first line has the names of the columns
  char delimiter = ',';
  DType dtype = DType::f32;  // or f64, i64
};

struct CsvTable {
  Tensor values;                     // [rows, columns]
  std::vector<std::string> columns;  // names; empty without a header
};

CsvTable load_csv(const std::string& path, const CsvOptions& = {});

// Writes a tensor of one dim (as a column) or two dims. Reading the numbers back gives the same bits.
void save_csv(const std::string& path, const Tensor& values, const std::vector<std::string>& columns = {},
              char delimiter = ',');

}  // namespace lunagrad
