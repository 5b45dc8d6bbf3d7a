// The rows along one dim of up to four tensors (gpu/ops/rows.h).
struct Rows {
  uint count, extent;
  uint dims;
  uint size[8];
  int64_t stride[4][8];  // from row to row
  int64_t step[4];       // along a row
};
