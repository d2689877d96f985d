// A rewrite in steps that several processes share: one makes the plan, each carries out a part, one completes the
// target.
#pragma once

#include <stop_token>

#include "app/rechunk.h"

namespace chunkwise {

/// Carries out request.step, which is not `all`:
/// plan: writes down what was asked for and what the processes must agree on, in a folder beside the target. With the
///   same request again it changes nothing.
/// part: does its share of the plan, with a journal of its own. It may be killed and run again, at any time and on any
///   machine; once it is complete, running it again changes nothing. No two parts write one object: a target that is a
///   directory they fill together, of one that is a file each makes a piece.
/// finish: checks that all parts are there, puts pieces together by copying encoded chunks, moves what cannot be
///   shared, verifies, and gives the target its name.
/// Throws what rechunk() throws; Error{unsupported} if the source, the plan or the program is another now,
/// Error{not_found} without a plan and, from `finish`, naming the parts that are missing.
RechunkReport rechunk_step(const RechunkRequest& request, const RechunkObserver& observer, const std::stop_token& stop);

}  // namespace chunkwise
