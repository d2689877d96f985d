#include "grid/box.h"

#include "base/error.h"

namespace chunkwise {

bool Box::empty() const {
  return std::any_of(shape.begin(), shape.end(), [](Index extent) { return extent <= 0; });
}

Box whole(const Shape& array) {
  return {Shape::filled(array.rank(), 0), array};
}

Box intersect(const Box& a, const Box& b) {
  CHUNKWISE_CHECK(a.origin.rank() == b.origin.rank());
  Box common = a;
  for (int axis = 0; axis < a.origin.rank(); ++axis) {
    const Index first = std::max(a.origin[axis], b.origin[axis]);
    const Index last = std::min(a.origin[axis] + a.shape[axis], b.origin[axis] + b.shape[axis]);
    common.origin[axis] = first;
    common.shape[axis] = std::max(Index{0}, last - first);
  }
  return common;
}

bool contains(const Box& outer, const Box& inner) {
  CHUNKWISE_CHECK(outer.origin.rank() == inner.origin.rank());
  if (inner.empty()) return true;
  for (int axis = 0; axis < outer.origin.rank(); ++axis) {
    if (inner.origin[axis] < outer.origin[axis]) return false;
    if (inner.origin[axis] + inner.shape[axis] > outer.origin[axis] + outer.shape[axis]) return false;
  }
  return true;
}

}  // namespace chunkwise
