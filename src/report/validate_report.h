// Cold reads of candidate layouts beside their predictions, in three forms.
#pragma once

#include <string>
#include <vector>

#include "report/predict_report.h"

namespace chunkwise {

/// Plain data.
struct ValidateReport {
  struct Cell {
    std::string layout;           // "current", "recommended", a policy's name
    std::vector<double> seconds;  // of every read, ascending
  };
  std::string file;
  std::string variable;
  std::vector<std::string> dims;
  std::string client;         // who read
  PredictReport predicted;    // its timings hold the median of each cell, at the place of that read
  std::vector<Cell> cells;    // in the order of those timings
  double resident_share = 0;  // the most pages that were in memory before a read
  double seconds = 0;         // all of it
  bool ended_early = false;   // the budget did not hold seven reads of each cell
};

/// 80 columns: measured and predicted with a plot, then the figures of predict_text().
std::string validate_text(const ValidateReport& report);
/// Schema "chunkadvise-validate/1".
std::string validate_json(const ValidateReport& report);
/// A table as `chunkadvise predict --timings` takes it, with the quartiles.
std::string validate_csv(const ValidateReport& report);

}  // namespace chunkwise
