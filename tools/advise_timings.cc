#include "advise_timings.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "app/advise.h"
#include "app/calibrate.h"
#include "app/timings.h"
#include "base/error.h"
#include "command_line.h"
#include "store/local_path.h"

namespace chunkwise {
namespace {

constexpr const char* kTableHelp = R"(The table is CSV with a header; one row a measurement:
  pattern,start_D,n_D,...,chunk_D,...,wall_s      with every dimension D, in axis order
  optional: layout (chunked, contiguous), order (storage order, "y x time"),
  store (file, objects), client, codec, device, stored_bytes (of the whole array))";

struct TableOptions {
  TimingsRequest request;
  std::string shape;
  std::string dims;
  bool json = false;
};

void add_table_options(CLI::App& app, TableOptions& options) {
  app.add_option("--shape", options.shape, "shape of the array that was read")->type_name("N,N,...");
  app.add_option("--dtype", options.request.dtype, "its type: f4 (default), i2, u1, f8, ...")->type_name("TYPE");
  app.add_option("--dims", options.dims, "its dimension names; default: those of the table's header")
      ->type_name("NAME,...");
  app.add_flag("--json", options.json, "the report as JSON");
}

void finish(TableOptions& options) {
  if (!options.shape.empty()) options.request.shape = parse_shape(options.shape);
  if (!options.dims.empty()) options.request.dims = CLI::detail::split(options.dims, ',');
}

}  // namespace

int run_predict(int argc, char** argv) {
  CLI::App app("Compares measured reads of one array with what the model says of a device.");
  app.name("chunkadvise predict");
  app.footer(std::string(kTableHelp) +
             "\nExample:\n  chunkadvise predict --device data/unidata-hdd.profile.json \\\n"
             "      --timings data/unidata_narr.csv --shape 98128,277,349 --dims time,y,x");
  TableOptions options;
  app.add_option("--timings", options.request.table, "the measured reads")->type_name("TABLE.csv");
  app.add_option("--device", options.request.device, "a name or a profile file; default: the saved profile")
      ->type_name("NAME|FILE");
  app.add_option(
         "--client", options.request.client,
         "who read, see chunkadvise --help; default: the column client, else whom the profile\nis of, else hdf5 "
         "or, of objects, zarr-python")
      ->type_name("NAME");
  add_table_options(app, options);
  if (const auto exit_code = parse_command_line(app, argc, argv)) return *exit_code;
  refuse_standard_stream("--timings", options.request.table);
  if (options.request.table.empty())
    throw Error(Code::usage, "--timings is required", "see chunkadvise predict --help");
  finish(options);
  const PredictReport report = predict_timings(options.request);
  std::cout << (options.json ? predict_json(report) : predict_text(report));
  return 0;
}

int run_calibrate(int argc, char** argv) {
  CLI::App app(
      "Measures the device under a folder and how fast this machine decodes, or fits the constants "
      "of the model to reads that you timed, and keeps them as a profile.");
  app.name("chunkadvise calibrate");
  app.footer(std::string(kTableHelp) +
             "\nExamples:\n  chunkadvise calibrate /data\n      writes 256 MiB there for a while, and reads them"
             "\n  chunkadvise calibrate --from times.csv --shape 5136,721,1152 --out s3.json");
  TableOptions options;
  std::string folder;
  std::string out;
  double budget_s = 20;
  app.add_option("DIR", folder, "where the data is; default: the current folder");
  app.add_option("--from", options.request.table, "fit to these timings instead")->type_name("TABLE.csv");
  app.add_option("--out", out,
                 "save the profile here; default: as the one of this machine, which is\nused from then on")
      ->type_name("FILE");
  app.add_option("--budget", budget_s, "seconds to spend, 1 to 60 (default 20)")->type_name("S");
  app.add_option(
         "--client", options.request.client,
         "who read, see chunkadvise --help; default: the column client, else whom the profile\nis of, else hdf5 "
         "or, of objects, zarr-python")
      ->type_name("NAME");
  add_table_options(app, options);
  if (const auto exit_code = parse_command_line(app, argc, argv)) return *exit_code;
  if (options.request.table.empty()) {
    if (!options.shape.empty() || !options.dims.empty() || !options.request.dtype.empty()) {
      throw Error(Code::usage, "--shape, --dtype and --dims describe a table and need --from");
    }
    if (!(budget_s >= 1 && budget_s <= 60)) throw Error(Code::usage, "--budget is not between 1 and 60 seconds");
    const CalibrateReport report = calibrate(folder.empty() ? "." : local_path(folder), out, budget_s);
    std::cout << (options.json ? calibrate_json(report) : calibrate_text(report));
    return 0;
  }
  if (app.count("--budget") > 0) throw Error(Code::usage, "--budget is for measuring, not for --from");
  if (!folder.empty()) throw Error(Code::usage, "DIR and --from exclude each other");
  finish(options);
  const PredictReport report = calibrate_from_timings(options.request, out);
  std::cout << (options.json ? predict_json(report) : predict_text(report));
  return 0;
}

}  // namespace chunkwise
