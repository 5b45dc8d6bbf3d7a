// Many tensors in one dispatch, cut into blocks that count through all of them. The including file has a table `entries`
// of `tensors` of them, whose first_block says which block is their first.

// The tensor that the block is of: the last whose first block is not above it.
uint tensor_of(uint block) {
  uint low = 0, high = tensors;
  while (high - low > 1) {
    const uint middle = (low + high) / 2;
    if (entries.at[middle].first_block <= block)
      low = middle;
    else
      high = middle;
  }
  return low;
}
