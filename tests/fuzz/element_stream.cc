// The chunks of vlen-utf8, vlen-bytes and vlen-array.
//   type:u8, number of elements:u8, then the stream
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "array/element_stream.h"
#include "base/error.h"

using namespace chunkwise;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<DType> types = {string_type(), list_type(*parse_dtype("u1")), list_type(*parse_dtype("f8"))};
  if (size < 2) return 0;
  const DType& type = types[data[0] % types.size()];
  const Bytes stream = Bytes::copy_of(std::as_bytes(std::span(data + 2, size - 2)));
  try {
    std::vector<ElementView> elements;
    split_elements(stream.view(), type, data[1], elements);
    // What was taken apart is put together again.
    Bytes again;
    join_elements(elements, again);
    if (as_text(again) != as_text(stream)) std::abort();
  } catch (const Error& error) {
    if (error.code() != Code::corrupt) throw;
  }
  return 0;
}
