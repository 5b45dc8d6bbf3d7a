// Many tensors in one dispatch. They are divided into blocks, which are numbered through all tensors. The
// including file declares the table `entries` of `tensors` entries, each with the number of its first block.

// The tensor of the block: the last one whose first block is not after it.
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
