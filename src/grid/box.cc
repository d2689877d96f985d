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

std::vector<Box> halves(const Box& box) {
  for (int axis = 0; axis < box.shape.rank(); ++axis) {
    if (box.shape[axis] < 2) continue;
    std::vector<Box> parts(2, box);
    parts[0].shape[axis] = box.shape[axis] / 2;
    parts[1].shape[axis] -= parts[0].shape[axis];
    parts[1].origin[axis] += parts[0].shape[axis];
    return parts;
  }
  return {};
}

Shape position_in(const Box& box, Index i) {
  Shape position = box.origin;
  for (int axis = box.shape.rank() - 1; axis >= 0; --axis) {
    position[axis] += i % box.shape[axis];
    i /= box.shape[axis];
  }
  return position;
}

}  // namespace chunkwise
