// Elements of any length, copied from any format to any other, and compared.
#pragma once

#include <vector>

#include "array/dataset.h"
#include "rechunk/proof.h"

namespace chunkwise {

struct ElementCopy {
  std::vector<ChunkProof> proofs;  // of the chunks of the target that are sampled
  std::vector<Loss> losses;
};

/// Copies one array, tile by tile of whole target chunks within work.memory_bytes. HDF5 has null elements, and texts
/// that are not UTF-8; Zarr has neither: with `allows_loss` null becomes empty and such texts are read as Latin-1,
/// without it the first one is Error{unsupported}. Throws Error{budget} for a chunk that does not fit, Error{corrupt},
/// Error{io}.
ElementCopy copy_elements(const Reader& reader, const ArrayMeta& source, Writer& writer, const ArrayMeta& target,
                          bool allows_loss, const ElementWork& work);

/// Compares all elements; what is lost between the formats is no difference. work.done is called after each target
/// chunk. Throws Error{mismatch}.
void compare_elements(const Reader& wanted, const ArrayMeta& source, const Reader& got, const ArrayMeta& target,
                      const ElementWork& work);

/// Compares chunks with what was noted when they were written.
void check_element_proofs(const Reader& got, const ArrayMeta& target, const std::vector<ChunkProof>& proofs,
                          const ElementWork& work);

}  // namespace chunkwise
