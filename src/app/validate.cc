#include "app/validate.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

#include "app/profiles.h"
#include "app/rechunk.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/sizes.h"
#include "codec/chain.h"
#include "format/registry.h"
#include "store/cold_files.h"

namespace chunkwise {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReads = 7;       // of each cell, if the budget holds them
constexpr double kMostResident = 0.01;  // pages
constexpr std::size_t kBatch_bytes = 64 * 1024 * 1024;
const char* const kClient = "chunkwise";

/// A folder of its own, removed at the end with what is in it.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& parent) : path_(parent + "/.chunkadvise-validate-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr)
      throw Error(Code::io, fmt::format("cannot make a folder in {}: {}", parent, std::strerror(errno)));
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Candidate {
  std::string name;
  std::optional<Shape> chunk;
  std::string path;  // of the dataset
  double stored_bytes = 0;
};

/// Layouts of the report that differ, without those that only a shard makes different.
std::vector<Candidate> pick(const AdviseReport::Variable& variable, std::size_t most) {
  std::vector<Candidate> list;
  for (const auto& layout : variable.layouts) {
    const bool known =
        std::any_of(list.begin(), list.end(), [&](const Candidate& c) { return c.chunk == layout.chunk; });
    if (known || list.size() >= most || (layout.shard && layout.kind != AdviseReport::Layout::Kind::current)) continue;
    list.push_back({layout.name, layout.chunk, {}, layout.size_bytes});
  }
  return list;
}

void require_room(const std::string& folder, const std::vector<Candidate>& list) {
  double need_bytes = 0;
  for (const auto& candidate : list) need_bytes += candidate.name == "current" ? 0 : 1.05 * candidate.stored_bytes;
  struct statvfs status {};
  if (::statvfs(folder.c_str(), &status) != 0)
    throw Error(errno == ENOENT ? Code::not_found : Code::io,
                fmt::format("cannot look at {}: {}", folder, std::strerror(errno)));
  const double free_bytes = static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize);
  if (need_bytes <= 0.95 * free_bytes) return;
  throw Error(
      Code::io,
      fmt::format("the layouts take about {}, and {} has {} free", format_bytes(static_cast<std::uint64_t>(need_bytes)),
                  folder, format_bytes(static_cast<std::uint64_t>(free_bytes))),
      "give --scratch DIR on the device that matters, or fewer layouts (--layouts N)");
}

void write_layout(Candidate& candidate, const AdviseRequest& advice, const std::string& variable,
                  const std::string& format, bool is_folder, const std::string& path) {
  RechunkRequest request;
  request.source = advice.path;
  request.target = path + (is_folder ? ".zarr" : ".h5");
  request.to = format;
  request.variables = {variable};
  request.verify = VerifyMode::none;
  std::string spec = "contiguous";
  if (candidate.chunk) {
    spec.clear();
    for (int axis = 0; axis < candidate.chunk->rank(); ++axis)
      spec += fmt::format("{}{}/{}", axis > 0 ? "," : "", axis, (*candidate.chunk)[axis]);
  } else {
    request.codecs = {variable + ":none"};
  }
  request.chunks = {fmt::format("{}:{}", variable, spec)};
  rechunk(request, {}, {});
  candidate.path = request.target;
}

double bytes_under(const std::string& path) {
  if (!fs::is_directory(path)) return static_cast<double>(fs::file_size(path));
  double bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) bytes += static_cast<double>(entry.file_size());
  }
  return bytes;
}

/// A contiguous array in runs that hold nothing but wanted elements, if the source can be cut.
Shape run_shape(const ArrayMeta& meta, const Box& box) {
  Shape run = Shape::filled(meta.shape.rank(), 1);
  for (int axis = meta.shape.rank() - 1; axis >= 0; --axis) {
    if (box.shape[axis] != meta.shape[axis]) break;
    run[axis] = meta.shape[axis];
  }
  return run;
}

/// Opens the dataset, reads and decodes every chunk that shares an element with the box. Seconds.
double read_once(const std::string& path, const std::string& variable, const Box& box) {
  const auto begin = Clock::now();
  const FormatRow& format = detect_format(path);
  const std::unique_ptr<Reader> reader = format.open(path);
  const std::unique_ptr<ArraySource> whole = reader->open_array(variable);
  std::unique_ptr<ArraySource> runs;
  const ArraySource* source = whole.get();
  if (whole->meta().storage != Storage::chunked) {
    const Shape run = run_shape(whole->meta(), box);
    runs = whole->in_runs(run);
    if (runs == nullptr) runs = cut_linear(*whole, run);
    source = runs.get();
  }
  const ArrayMeta& meta = source->meta();
  const CodecChain chain(meta.codecs, meta.dtype.bytes);
  CodecChain::Scratch scratch;
  const std::size_t chunk_bytes = meta.chunk_bytes();
  const auto ids = source->grid().overlapping(box);
  const std::size_t n_batch = std::clamp<std::size_t>(kBatch_bytes / chunk_bytes, 1, 1u << 16);
  ReadBatch batch;
  for (std::size_t at = 0; at < ids.size(); at += n_batch) {
    const std::size_t n = std::min(n_batch, ids.size() - at);
    source->read(std::span(ids).subspan(at, n), batch);
    for (const EncodedChunk& chunk : batch.chunks) {
      if (!chunk.absent && !chain.empty())
        static_cast<void>(chain.decode(chunk.bytes, chunk_bytes, chunk.skipped_codecs, scratch));
    }
  }
  return seconds_since(begin);
}

struct Read {
  double seconds;
  Shape start;
};

struct Job {
  std::size_t candidate;
  std::size_t pattern;
  std::vector<Read> reads;
};

Shape random_place(const Shape& shape, const AccessPattern& pattern, std::mt19937_64& random) {
  Shape start;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    start.push_back(std::uniform_int_distribution<Index>(0, shape[axis] - pattern.extents[axis])(random));
  }
  return start;
}

/// Rounds over all cells in random order until each has enough reads or the budget is spent; one round at least.
void read_cells(std::vector<Job>& jobs, const std::vector<Candidate>& list, const AdviseReport::Variable& variable,
                double budget_s, ValidateReport& report) {
  std::mt19937_64 random(std::random_device{}());
  const auto begin = Clock::now();
  for (std::size_t round = 0; round < kReads; ++round) {
    std::vector<Job*> order;
    for (Job& job : jobs) order.push_back(&job);
    std::shuffle(order.begin(), order.end(), random);
    for (Job* job : order) {
      if (round > 0 && seconds_since(begin) > budget_s) {
        report.ended_early = true;
        return;
      }
      const Candidate& candidate = list[job->candidate];
      const AccessPattern& pattern = variable.patterns[job->pattern];
      const Shape start = random_place(variable.meta.shape, pattern, random);
      const double resident = drop_cached_pages(candidate.path);
      if (resident > kMostResident) {
        throw Error(Code::unsupported,
                    fmt::format("the page cache of {} cannot be emptied: {:.0f} % of its pages stay in memory, so that "
                                "nothing can be measured",
                                candidate.path, 100 * resident),
                    "is it in memory (tmpfs), or open elsewhere? Give --scratch DIR on a disk");
      }
      report.resident_share = std::max(report.resident_share, resident);
      job->reads.push_back({read_once(candidate.path, variable.meta.path, Box{start, pattern.extents}), start});
    }
  }
}

}  // namespace

ValidateReport validate(const ValidateRequest& request) {
  // 1. What there is, and which layouts to compare.
  const auto began = Clock::now();
  AdviseRequest advice = request.advice;
  if (advice.path.empty()) throw Error(Code::usage, "FILE is required", "chunkadvise validate FILE VARIABLE");
  const AdviseReport advised = advise(advice);
  if (advised.variables.size() != 1) {
    std::vector<std::string> names;
    for (const auto& variable : advised.variables) names.push_back(variable.meta.path);
    if (names.size() > 12) names.resize(12);
    throw Error(Code::usage, fmt::format("{} variables are there; validate reads one", advised.variables.size()),
                fmt::format("name one of {}", fmt::join(names, ", ")));
  }
  const AdviseReport::Variable& variable = advised.variables.front();
  for (const auto& pattern : variable.patterns) {
    if (std::any_of(pattern.steps.begin(), pattern.steps.end(), [](Index step) { return step > 1; }))
      throw Error(Code::unsupported, fmt::format("access {} has steps; validate reads boxes", pattern.name));
  }
  std::vector<Candidate> list = pick(variable, request.max_layouts);

  // 2. Write them, but for the present one, which is read where it is.
  std::string parent = request.scratch;
  if (parent.empty()) parent = fs::absolute(advice.path).parent_path().string();
  require_room(parent, list);
  const ScratchFolder folder(parent);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].name == "current") {
      list[i].path = advice.path;
    } else {
      write_layout(list[i], advice, variable.meta.path, advised.format, advised.is_directory,
                   fmt::format("{}/{}", folder.path(), i));
    }
    list[i].stored_bytes = list[i].name == "current" && variable.meta.stored_bytes > 0
                               ? static_cast<double>(variable.meta.stored_bytes)
                               : bytes_under(list[i].path);
  }

  // 3. Read them.
  ValidateReport report;
  report.file = advice.path;
  report.variable = variable.meta.path;
  report.client = kClient;
  std::vector<Job> jobs;
  for (std::size_t c = 0; c < list.size(); ++c) {
    for (std::size_t p = 0; p < variable.patterns.size(); ++p) jobs.push_back({c, p, {}});
  }
  read_cells(jobs, list, variable, request.budget_s, report);

  // 4. Compare: the read of median time stands for its cell, and is predicted at its place.
  Timings& timings = report.predicted.timings;
  timings.axes = variable.axes;
  timings.element_bytes = variable.meta.dtype.bytes;
  for (Job& job : jobs) {
    std::sort(job.reads.begin(), job.reads.end(), [](const Read& a, const Read& b) { return a.seconds < b.seconds; });
    const Read& median = job.reads[(job.reads.size() - 1) / 2];
    const Candidate& candidate = list[job.candidate];
    Timing row;
    row.pattern = variable.patterns[job.pattern].name;
    row.start = median.start;
    row.count = variable.patterns[job.pattern].extents;
    row.chunk = candidate.chunk;
    for (int axis = 0; axis < variable.meta.shape.rank(); ++axis) row.order.push_back(axis);
    if (candidate.chunk) row.codec = to_string(variable.meta.codecs);
    row.store = advised.is_directory ? "objects" : "file";
    row.client = kClient;
    row.stored_bytes = candidate.stored_bytes;
    row.wall_s = median.seconds;
    timings.rows.push_back(std::move(row));
    ValidateReport::Cell cell{candidate.name, {}};
    for (const Read& read : job.reads) cell.seconds.push_back(read.seconds);
    report.cells.push_back(std::move(cell));
  }
  PredictReport& predicted = report.predicted;
  predicted.table = advice.path;
  predicted.device = load_device(advice.device);
  predicted.costs = predict(timings, predicted.device);
  predicted.by_pattern = accuracy_by_pattern(timings, predicted.costs);
  predicted.all = accuracy_of_all(timings, predicted.costs);
  report.seconds = seconds_since(began);
  return report;
}

}  // namespace chunkwise
