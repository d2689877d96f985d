// The arrays an advice is about, and which of the accesses mean something for them.
#pragma once

#include "app/advise_question.h"
#include "format/registry.h"

namespace chunkwise {

/// Why there is nothing to advise for an array; empty: there is.
std::string why_skipped(const ArrayMeta& meta);

AdviseReport::Variable to_variable(const ArrayMeta& meta);

/// The array a request without a file describes. Throws Error{usage}.
AdviseReport::Variable imagined_variable(const AdviseRequest& request);

/// The arrays asked for, as the file has them and, where `to` is another format, as that one would store them.
void collect_variables(const AdviseRequest& request, const FormatRow* to, AdviseReport& report);

/// The accesses that apply to the variable; the others become notes.
void bind_accesses(AdviseReport::Variable& variable, const Question& question);

/// An access or candidate the user wrote must mean something for at least one variable. Throws Error{usage}.
void require_use(const Question& question, const std::vector<AdviseReport::Variable>& variables);

}  // namespace chunkwise
