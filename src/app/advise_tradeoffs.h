// Besides the one layout: leaner ones, and two copies.
#pragma once

#include "app/advise_layouts.h"

namespace chunkwise {

/// Fills variable.front from the layouts priced and some more of smaller chunks and less padding.
void find_front(AdviseReport::Variable& variable, const Stored& then, const Question& question, SearchCache& cache);

/// Fills variable.copies where two copies serve the accesses faster than the recommended layout by more than the model
/// can be wrong.
void find_copies(AdviseReport::Variable& variable, const Stored& then, const Question& question, SearchCache& cache);

}  // namespace chunkwise
