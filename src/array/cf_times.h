// Times for formats that have no type for them, as CF has them: whole numbers with units.
#pragma once

#include "array/dataset.h"

namespace chunkwise {

/// Turns arrays of datetimes and timedeltas into i8 with the attributes by which xarray makes them the same values
/// again, NaT included; notes it. Left as they are: units without a fixed length or that CF does not know (Y, M, W, ps,
/// fs, as, generic), counts of several units, and arrays that have one of those attributes already.
void times_to_cf(Hierarchy& tree, AdaptReport& report);

}  // namespace chunkwise
