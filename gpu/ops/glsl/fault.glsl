// Where a kernel notes an invalid index, label, probability or weight (Stream::fault_address() in gpu/vulkan/stream.h).
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Fault {
  uint kind;  // a FaultKind; 0: none
  uint position;
  int value;
  uint size;
};
const uint kLabelFault = 1;

// Keeps only the first fault of all invocations.
void note_fault(uint64_t address, uint kind, uint position, int value, uint size) {
  Fault fault = Fault(address);
  if (atomicCompSwap(fault.kind, 0u, kind) != 0u) return;
  fault.position = position;
  fault.value = value;
  fault.size = size;
}
// Notes an index that is not in 0 … size - 1.
void note_index(uint64_t fault, uint kind, uint position, int64_t index, uint size) {
  note_fault(fault, kind, position, int(clamp(index, -2147483647L, 2147483647L)), size);
}
// Notes the first matrix of a batch that fails, and the `place` (less than 128) at which it fails. `position`
// becomes the largest complement of both numbers, so the order of the invocations does not matter. batched:
// whether the matrix is one of several.
void note_matrix(uint64_t address, uint kind, uint item, uint place, uint batched) {
  Fault fault = Fault(address);
  atomicMax(fault.position, ~(item << 7 | place));
  fault.kind = kind;
  fault.size = batched;
}
