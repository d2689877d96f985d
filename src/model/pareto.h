// Layouts that nothing beats in every respect.
#pragma once

#include <vector>

namespace chunkwise {

/// Indices of the points that no other point beats or equals in all respects at once, in the order given; of equal
/// points the first. Every point has the same number of figures, less is better; differences below 1 % are none.
std::vector<std::size_t> pareto_front(const std::vector<std::vector<double>>& points);

}  // namespace chunkwise
