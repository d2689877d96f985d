// Numbers and shapes as the advice words them.
#pragma once

#include <optional>
#include <string>

#include "report/advise_report.h"

namespace chunkwise {

/// "1.2 MiB"; of expectations, rounded.
std::string bytes_words(double bytes);
/// The same in three figures at most.
std::string brief_bytes(double bytes);
/// Three figures: "167 ms", "1.23 s", "4.0 min".
std::string brief_seconds(double seconds);
/// 6711 -> "6,711", 24.3 -> "24", 1.32 -> "1.3".
std::string ratio_words(double ratio);
std::string count_words(double n);
/// "516x20x25"; "contiguous" for nothing.
std::string chunk_words(const std::optional<Shape>& chunk);

double decoded_bytes(const Shape& shape, std::size_t element_bytes);
/// The present layout by the goal over another.
double gain_over(const AdviseReport::Layout& now, const AdviseReport::Layout& other);
/// True if the gain is beyond what the model can tell.
bool pays(const AdviseReport::Variable& variable, const Device& device);
/// True if both store the same chunks in the same way.
bool same_layout(const AdviseReport::Layout& a, const AdviseReport::Layout& b);
/// The pattern that takes most of a layout's weighted time.
std::size_t heaviest(const AdviseReport::Variable& variable, const AdviseReport::Layout& layout);

/// What the layouts mean for the reader: what takes the time, what to try in the client, what the rewrite takes and
/// when it pays, two copies, leaner layouts. One paragraph each.
std::string verdict_text(const AdviseReport& report, const AdviseReport::Variable& variable);

/// What can be done without a rewrite about the access that takes longest now; empty where nothing exists yet.
std::string try_first_words(const AdviseReport& report, const AdviseReport::Variable& variable);

/// The `rechunk` command for all variables worth it, to copy; empty if there are none.
std::string command_text(const AdviseReport& report);
/// The command alone, in one line and for every variable.
std::string command_line(const AdviseReport& report);

}  // namespace chunkwise
