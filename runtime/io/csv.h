#pragma once
// Tables of numbers as text: one row a line, columns parted by one character. Strict: every row has the same
// number of columns and every field is a number, or the Error (kind file) names line and column, counted
// from 1. The locale plays no part. Takes \n and \r\n, a byte-order mark, blanks around fields, and empty
// lines at the end.
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace lunagrad {

struct CsvOptions {
  bool header = false;  // the first line holds the names of the columns
  char delimiter = ',';
  DType dtype = DType::f32;  // or f64, i64
};

struct CsvTable {
  Tensor values;                     // [rows, columns]
  std::vector<std::string> columns;  // names; empty without a header
};

CsvTable load_csv(const std::string& path, const CsvOptions& = {});

// A tensor of one (a column) or two dims. Numbers are written so that reading them gives the same bits.
void save_csv(const std::string& path, const Tensor& values, const std::vector<std::string>& columns = {},
              char delimiter = ',');

}  // namespace lunagrad
