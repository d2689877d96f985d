#include "app/slot_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "store/posix_file.h"

namespace chunkwise {
namespace {

constexpr const char* kSchema = "rechunk-plan/1";

std::string hex(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

std::uint64_t from_hex(const Json& value) {
  return std::stoull(value.get<std::string>(), nullptr, 16);
}

/// Over all of a document but the member that holds it.
std::string check_of(Json document) {
  document.erase("check");
  const std::string text = dump_json(document);
  return hex(XXH3_64bits(text.data(), text.size()));
}

Json to_json(const SlotPlan& plan) {
  Json json = Json::object();
  json["schema"] = kSchema;
  const RechunkRequest& request = plan.request;
  json["source"] = plan.identity.source;
  json["to"] = request.to;
  json["chunks"] = request.chunks;
  json["shards"] = request.shards;
  json["codecs"] = request.codecs;
  json["variables"] = request.variables;
  json["exclude"] = request.exclude;
  json["allow_loss"] = request.allow_loss;
  json["memory_bytes"] = plan.memory.memory_bytes;
  json["base_bytes"] = plan.memory.base_bytes;
  json["threads"] = plan.memory.n_threads;
  Json arrays = Json::array();
  for (std::size_t i = 0; i < plan.boxes.size(); ++i) {
    Json array = Json::object();
    array["path"] = plan.identity.arrays[i].first;
    array["layout"] = plan.identity.arrays[i].second;
    array["box"] = Json(nullptr);
    if (plan.boxes[i].rank() > 0) array["box"] = std::vector<Index>(plan.boxes[i].begin(), plan.boxes[i].end());
    arrays.push_back(std::move(array));
  }
  json["arrays"] = std::move(arrays);
  json["program"] = plan.identity.program;
  json["source_bytes"] = plan.identity.source_bytes;
  json["source_mtime_ns"] = plan.identity.source_mtime_ns;
  json["source_hash"] = hex(plan.identity.source_hash);
  json["target_hash"] = hex(plan.identity.target_hash);
  json["made_s"] = plan.identity.started_s;
  json["check"] = check_of(json);
  return json;
}

SlotPlan from_json(const Json& json) {
  if (json.value("schema", "") != kSchema) throw Error(Code::unsupported, "it is of another version of rechunk");
  if (json.at("check").get<std::string>() != check_of(json))
    throw Error(Code::corrupt, "it was changed after it was written");
  SlotPlan plan;
  RechunkRequest& request = plan.request;
  request.to = json.at("to").get<std::string>();
  request.chunks = json.at("chunks").get<std::vector<std::string>>();
  request.shards = json.at("shards").get<std::vector<std::string>>();
  request.codecs = json.at("codecs").get<std::vector<std::string>>();
  request.variables = json.at("variables").get<std::vector<std::string>>();
  request.exclude = json.at("exclude").get<std::vector<std::string>>();
  request.allow_loss = json.at("allow_loss").get<bool>();
  plan.memory.memory_bytes = json.at("memory_bytes").get<std::uint64_t>();
  plan.memory.base_bytes = json.at("base_bytes").get<std::uint64_t>();
  plan.memory.n_threads = json.at("threads").get<int>();
  WorkIdentity& identity = plan.identity;
  for (const Json& array : json.at("arrays")) {
    identity.arrays.emplace_back(array.at("path").get<std::string>(), array.at("layout").get<std::string>());
    Shape& box = plan.boxes.emplace_back();
    if (!array.at("box").is_null())
      for (const Index length : array.at("box").get<std::vector<Index>>()) box.push_back(length);
  }
  identity.program = json.at("program").get<std::string>();
  identity.source = json.at("source").get<std::string>();
  identity.source_bytes = json.at("source_bytes").get<std::uint64_t>();
  identity.source_mtime_ns = json.at("source_mtime_ns").get<std::int64_t>();
  identity.source_hash = from_hex(json.at("source_hash"));
  identity.target_hash = from_hex(json.at("target_hash"));
  identity.format = request.to;
  identity.started_s = json.at("made_s").get<std::int64_t>();
  return plan;
}

}  // namespace

SlotFolder::SlotFolder(std::string target) : target_(std::move(target)) {
  while (target_.size() > 1 && target_.back() == '/') target_.pop_back();
  constexpr std::size_t kMostName_bytes = 200;
  const std::filesystem::path whole = target_;
  const std::string name = fmt::format(".{}.rechunk-slots", whole.filename().string().substr(0, kMostName_bytes));
  path_ = (whole.parent_path() / name).string();
}

std::string SlotFolder::journal_path(const Share& part) const {
  return fmt::format("{}/part-{}-of-{}.journal", path_, part.number, part.count);
}

std::string SlotFolder::piece_path(const Share& part) const {
  return fmt::format("{}/part-{}-of-{}.data", path_, part.number, part.count);
}

std::optional<SlotPlan> SlotFolder::read_plan() const {
  const std::string file = path_ + "/plan.json";
  const posix::Descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    posix::throw_io("open", file, errno);
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) posix::throw_io("examine", file, errno);
  constexpr std::int64_t kMost_bytes = 1 << 30;
  if (status.st_size > kMost_bytes) throw Error(Code::corrupt, "it is no plan").in(file);
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  try {
    posix::read_at(fd.get(), 0, std::as_writable_bytes(std::span(text)), file);
    return from_json(parse_json(text));
  } catch (Error& error) {
    throw error.in(file);
  } catch (const std::exception& error) {  // a member that is missing or of another kind
    throw Error(Code::corrupt, fmt::format("it is no plan: {}", error.what())).in(file);
  }
}

SlotPlan SlotFolder::need_plan() const {
  std::optional<SlotPlan> plan = read_plan();
  if (!plan)
    throw Error(Code::not_found, fmt::format("there is no plan for '{}'", target_),
                "make one: rechunk --plan-only SRC DST with what is asked for");
  return std::move(*plan);
}

void SlotFolder::write_plan(const SlotPlan& plan) const {
  const std::string file = path_ + "/plan.json";
  const std::string unfinished = file + ".new";
  {
    const posix::Descriptor fd(::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!fd) posix::throw_io("create", unfinished, errno);
    posix::write_all(fd.get(), as_bytes(dump_json(to_json(plan), 2) + "\n"), unfinished);
  }
  posix::sync_path(unfinished);
  if (::rename(unfinished.c_str(), file.c_str()) != 0) posix::throw_io("create", file, errno);
  posix::sync_path(path_);
}

void SlotFolder::make() const {
  if (::mkdir(path_.c_str(), 0777) == 0) return;
  if (errno != EEXIST) posix::throw_io("create", path_, errno);
  if (read_plan())
    throw Error(Code::exists, fmt::format("there is a plan for '{}' already", target_),
                fmt::format("finish it, or remove '{}'", path_));
  remove();  // of a run that was killed before there was a plan
  if (::mkdir(path_.c_str(), 0777) != 0) posix::throw_io("create", path_, errno);
}

std::optional<int> SlotFolder::n_parts() const {
  std::set<int> counts;
  std::error_code error;
  for (std::filesystem::directory_iterator at(path_, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    int number = 0;
    int count = 0;
    int length = 0;
    if (std::sscanf(name.c_str(), "part-%d-of-%d.journal%n", &number, &count, &length) == 2 && length > 0 &&
        static_cast<std::size_t>(length) == name.size() && number >= 1 && number <= count)
      counts.insert(count);
  }
  if (error) posix::throw_io("list", path_, error.value());
  if (counts.size() > 1)
    throw Error(Code::usage, fmt::format("parts of {} and parts of {} are there", *counts.begin(), *counts.rbegin()),
                fmt::format("remove those of one kind in '{}'", path_));
  return counts.empty() ? std::nullopt : std::optional<int>(*counts.begin());
}

void SlotFolder::remove() const {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
  if (error) posix::throw_io("remove", path_, error.value());
}

RechunkRequest as_planned(const SlotPlan& plan, const RechunkRequest& asked) {
  RechunkRequest request = plan.request;
  request.source = asked.source;
  request.target = asked.target;
  request.advise = asked.advise;
  request.overwrite = asked.overwrite;
  request.verify = asked.verify;
  request.step = asked.step;
  request.part = asked.part;
  request.n_parts = asked.n_parts;
  return request;
}

}  // namespace chunkwise
