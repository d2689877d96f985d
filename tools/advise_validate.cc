#include "advise_validate.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "app/validate.h"
#include "base/error.h"
#include "command_line.h"
#include "store/local_path.h"

namespace chunkwise {

int run_validate(int argc, char** argv) {
  CLI::App app(
      "Writes the layouts that chunkadvise compares, reads them with an empty page cache, and shows\n"
      "predicted beside measured. Needs no rights but to write into the scratch folder.");
  app.name("chunkadvise validate");
  app.footer(
      "The present layout is read where it is, the others from copies of the variable that are removed\n"
      "at the end. Reads are of our own reader (--client chunkwise), in random order at random places,\n"
      "up to seven a cell. Where the cache cannot be emptied nothing is measured (exit 4).\n"
      "Example:\n  chunkadvise validate air.nc T --budget 60 --scratch /data/tmp");
  ValidateRequest request;
  bool json = false;
  bool csv = false;
  app.add_option("FILE", request.advice.path, "netCDF-4, HDF5 or Zarr dataset");
  app.add_option("VARIABLE", request.advice.variables, "the variable to read; needed where there are several");
  app.add_option("-a,--access", request.advice.accesses, "as for chunkadvise; repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("SPEC");
  app.add_option("--candidate", request.advice.candidates, "as for chunkadvise; repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("SPEC");
  app.add_option("--policy", request.advice.policies, "as for chunkadvise; repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("NAME");
  app.add_option("--device", request.advice.device, "a name or a profile file; default: the saved profile")
      ->type_name("NAME|FILE");
  app.add_option("--budget", request.budget_s, "seconds of reading (default 60); each cell is read once at least")
      ->type_name("S");
  app.add_option("--scratch", request.scratch, "where the layouts are written; default: beside FILE")->type_name("DIR");
  app.add_option("--layouts", request.max_layouts,
                 "compare so many at most (default 5): the present one, the\n"
                 "recommended, candidates, policies from the fastest on")
      ->type_name("N");
  app.add_flag("--json", json, "the report as JSON");
  app.add_flag("--csv", csv, "the measured cells as a table for chunkadvise predict --timings");
  if (const auto exit_code = parse_command_line(app, argc, argv)) return *exit_code;
  if (json && csv) throw Error(Code::usage, "--json and --csv exclude each other", "choose one");
  if (!(request.budget_s > 0)) throw Error(Code::usage, "--budget is not above 0 seconds");
  if (request.max_layouts < 1) throw Error(Code::usage, "--layouts is below 1");
  request.advice.path = local_path(request.advice.path);
  request.advice.client = "chunkwise";
  const ValidateReport report = validate(request);
  std::cout << (json ? validate_json(report) : csv ? validate_csv(report) : validate_text(report));
  return 0;
}

}  // namespace chunkwise
