// Beside a target that several processes make: the plan they share, and what each has done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/prepare.h"
#include "app/rechunk.h"
#include "rechunk/journal.h"
#include "rechunk/share.h"

namespace chunkwise {

/// What the processes must agree on. docs/cluster.md has its form on disk.
struct SlotPlan {
  /// What was asked for: chunks, shards, codecs, variables, loss.
  RechunkRequest request;
  PlanMemory memory;
  WorkIdentity identity;
  /// By array of the target: shape of the boxes that shares are made of; empty where the array is not shared.
  std::vector<Shape> boxes;
};

/// ".NAME.rechunk-slots" beside the target.
class SlotFolder {
 public:
  explicit SlotFolder(std::string target);

  const std::string& path() const { return path_; }
  /// The target until it gets its name: a directory that all parts write into, or a file that is put together last.
  std::string target_path() const { return path_ + "/target"; }
  std::string journal_path(const Share& part) const;
  /// What a part makes where the target is a file.
  std::string piece_path(const Share& part) const;

  /// Nothing if there is none. Throws Error{corrupt} if it was changed, Error{io}.
  std::optional<SlotPlan> read_plan() const;
  /// As read_plan(). Throws Error{not_found} if there is none.
  SlotPlan need_plan() const;
  /// Complete or not there, whatever happens.
  void write_plan(const SlotPlan& plan) const;
  /// Makes the folder, or empties one that has no plan. Throws Error{exists} if it has.
  void make() const;
  /// Into how many parts the plan is carried out; nothing before the first one has begun. Throws Error{usage} if parts
  /// of several such numbers are there.
  std::optional<int> n_parts() const;
  void remove() const;

 private:
  std::string target_;
  std::string path_;
};

/// The request as planned, for the target and the step of `asked`.
RechunkRequest as_planned(const SlotPlan& plan, const RechunkRequest& asked);

}  // namespace chunkwise
