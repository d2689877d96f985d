// Shapes and positions of arrays of up to 32 axes, without allocation.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

namespace chunkwise {

/// Elements and positions. Signed, so that differences are safe.
using Index = std::int64_t;

/// HDF5's limit, and ours for every format.
inline constexpr int kMaxRank = 32;

/// One Index per axis. A value type; copying costs O(rank).
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<Index> values) : Shape(std::span<const Index>(values.begin(), values.size())) {}
  /// Throws Error{unsupported} above kMaxRank.
  explicit Shape(std::span<const Index> values);
  // noexcept, so that vectors of what holds shapes move their elements.
  Shape(const Shape& other) noexcept : rank_(other.rank_) { std::copy_n(other.values_.data(), rank_, values_.data()); }
  Shape& operator=(const Shape& other) noexcept {
    rank_ = other.rank_;
    std::copy_n(other.values_.data(), rank_, values_.data());
    return *this;
  }
  /// `rank` times `value`.
  static Shape filled(int rank, Index value);

  int rank() const { return rank_; }
  Index& operator[](int axis) { return values_[static_cast<std::size_t>(axis)]; }
  Index operator[](int axis) const { return values_[static_cast<std::size_t>(axis)]; }
  Index* begin() { return values_.data(); }
  Index* end() { return values_.data() + rank_; }
  const Index* begin() const { return values_.data(); }
  const Index* end() const { return values_.data() + rank_; }
  std::span<const Index> span() const { return {begin(), end()}; }
  /// Appends an axis; throws Error{unsupported} above kMaxRank.
  void push_back(Index value);

  friend bool operator==(const Shape& a, const Shape& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

 private:
  std::array<Index, kMaxRank> values_;  // only the first rank_ are meaningful
  int rank_ = 0;
};

/// Product of all extents (1 for rank 0); nothing if one is negative or the product passes 2^63.
std::optional<Index> checked_product(const Shape& shape);

/// Product for shapes already checked; Error{internal} on overflow.
Index product(const Shape& shape);

/// "98128 x 277 x 349"; "scalar" for rank 0.
std::string to_string(const Shape& shape);

}  // namespace chunkwise
