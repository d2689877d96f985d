#include "grid/shape.h"

#include <fmt/format.h>

#include "base/checked.h"
#include "base/error.h"

namespace chunkwise {
namespace {

[[noreturn]] void throw_rank(std::size_t rank) {
  throw Error(Code::unsupported, fmt::format("an array has {} axes; at most {} are supported", rank, kMaxRank));
}

}  // namespace

Shape::Shape(std::span<const Index> values) : rank_(static_cast<int>(values.size())) {
  if (values.size() > static_cast<std::size_t>(kMaxRank)) throw_rank(values.size());
  std::copy(values.begin(), values.end(), values_.begin());
}

Shape Shape::filled(int rank, Index value) {
  CHUNKWISE_CHECK(rank >= 0);
  if (rank > kMaxRank) throw_rank(static_cast<std::size_t>(rank));
  Shape shape;
  shape.rank_ = rank;
  std::fill(shape.begin(), shape.end(), value);
  return shape;
}

void Shape::push_back(Index value) {
  if (rank_ == kMaxRank) throw_rank(static_cast<std::size_t>(rank_) + 1);
  values_[static_cast<std::size_t>(rank_++)] = value;
}

std::optional<Index> checked_product(const Shape& shape) {
  // An empty axis makes the product 0 whatever the others are, so it is looked for first.
  bool empty = false;
  for (const Index extent : shape) {
    if (extent < 0) return std::nullopt;
    empty = empty || extent == 0;
  }
  if (empty) return 0;
  Index total = 1;
  for (const Index extent : shape) {
    const auto next = checked_mul(total, extent);
    if (!next) return std::nullopt;
    total = *next;
  }
  return total;
}

Index product(const Shape& shape) {
  const auto total = checked_product(shape);
  CHUNKWISE_CHECK(total.has_value());
  return *total;
}

std::string to_string(const Shape& shape) {
  if (shape.rank() == 0) return "scalar";
  return fmt::format("{}", fmt::join(shape.begin(), shape.end(), " x "));
}

}  // namespace chunkwise
