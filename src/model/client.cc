#include "model/client.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/sizes.h"
#include "base/suggest.h"

namespace chunkwise {
namespace {

constexpr double kMiB = 1024 * 1024;
constexpr double kSieve_bytes = 64 * 1024;

// With everything cached, medians on a virtual machine of two cores; the intervals hold other machines and files.
const Constant kHdf5Chunk = {8e-6, 5e-6, 20e-6, "h5py 3.16, HDF5 2.0: reads of 256 to 262,144 cached chunks"};
const Constant kH5pyOpen = {
    1e-3, 0.1e-3, 1.2e-3,
    "h5py 3.16: open, one element, close, after other work; 0.5 ms in a loop, C alone 0.1 to 0.2 ms"};
const Constant kNetcdfOpen = {2.5e-3, 0.5e-3, 4e-3, "netCDF4 1.7 of Python: open, one element, close; C alone 0.5 ms"};
const Constant kNetcdfChunk = {15e-6, 5e-6, 25e-6, "netCDF4 1.7 of Python: reads of 128 to 2,048 cached chunks"};
const Constant kZarrOpen = {2.5e-3, 1e-3, 5e-3, "zarr-python 3.1: open, one element, after other work"};
const Constant kZarrChunk = {0.4e-3, 0.15e-3, 0.45e-3, "zarr-python 3.1: reads of 128 to 2,048 cached chunks"};
const Constant kTensorstoreOpen = {0.5e-3, 0.2e-3, 2e-3, "estimate: one metadata object parsed, C++"};
const Constant kTensorstoreChunk = {20e-6, 10e-6, 60e-6, "estimate: a future and a copy per chunk, C++"};
const Constant kOurOpen = {0.3e-3, 0.1e-3, 1e-3, "estimate: metadata parsed, chunk addresses collected"};
const Constant kOurChunk = {3e-6, 1e-6, 10e-6, "estimate: one look-up and one request per chunk or run"};

Client hdf5(std::string name, std::string summary, double cache_bytes, const Constant& open, const Constant& chunk) {
  Client client;
  client.name = std::move(name);
  client.summary = std::move(summary);
  client.kind = Client::Kind::hdf5;
  client.chunk_cache_bytes = cache_bytes;
  client.sieve_bytes = kSieve_bytes;
  client.open_s = open;
  client.chunk_s = chunk;
  return client;
}

Client zarr(std::string name, std::string summary, double in_flight, const Constant& open, const Constant& chunk) {
  Client client;
  client.name = std::move(name);
  client.summary = std::move(summary);
  client.kind = Client::Kind::zarr;
  client.in_flight = in_flight;
  client.copies = 1;
  client.open_s = open;
  client.chunk_s = chunk;
  return client;
}

std::vector<Client> make_clients() {
  Client plain;
  plain.name = "plain";
  plain.summary = "unknown: the device's constants hold its time";
  Client ours = hdf5("chunkwise", "our own reader of HDF5, netCDF and Zarr", 1e18, kOurOpen, kOurChunk);
  ours.sieve_bytes = 0;
  return {
      plain,
      hdf5("hdf5", "HDF5 1.8 to 1.14, h5py before 3.16; cache of 1 MiB", kMiB, kH5pyOpen, kHdf5Chunk),
      hdf5("hdf5-1.10", "as hdf5", kMiB, kH5pyOpen, kHdf5Chunk),
      hdf5("hdf5-1.14", "as hdf5", kMiB, kH5pyOpen, kHdf5Chunk),
      hdf5("hdf5-2", "HDF5 2.x, h5py 3.16; cache of 8 MiB", 8 * kMiB, kH5pyOpen, kHdf5Chunk),
      hdf5("netcdf", "netCDF-C 4.9.3 and later; cache of 64 MiB", 64 * kMiB, kNetcdfOpen, kNetcdfChunk),
      hdf5("netcdf-4.7.4", "netCDF-C 4.7.4 to 4.9.2; 16 MiB, grows to 64 MiB", 64 * kMiB, kNetcdfOpen, kNetcdfChunk),
      hdf5("netcdf-4.7.3", "netCDF-C up to 4.7.3; 4 MiB, grows to 64 MiB", 64 * kMiB, kNetcdfOpen, kNetcdfChunk),
      zarr("zarr-python", "zarr-python 3; ten chunks at a time", 10, kZarrOpen, kZarrChunk),
      zarr("tensorstore", "TensorStore; 32 chunks at a time", 32, kTensorstoreOpen, kTensorstoreChunk),
      ours,
  };
}

[[noreturn]] void refuse(std::string_view option, std::string_view text) {
  throw Error(Code::usage, fmt::format("'{}' in the client '{}' is no option", option, text),
              "options: +latest, +cache:SIZE, +blockcache:SIZE, +readahead:SIZE");
}

void apply(Client& client, std::string_view option, std::string_view text) {
  const auto colon = std::min(option.find(':'), option.size());
  const std::string_view name = option.substr(0, colon);
  const bool of_hdf5 = client.kind == Client::Kind::hdf5 && client.sieve_bytes > 0;
  if (name == "latest" && colon == option.size()) {
    if (!of_hdf5) throw Error(Code::usage, fmt::format("+latest is for HDF5 and netCDF, not for {}", client.name));
    client.index = ChunkIndex::by_shape;
    return;
  }
  if (colon + 1 >= option.size()) refuse(option, text);
  const auto size = static_cast<double>(parse_bytes(std::string(option.substr(colon + 1))));
  if (name == "cache") {
    if (!of_hdf5) throw Error(Code::usage, fmt::format("+cache is for HDF5 and netCDF, not for {}", client.name));
    client.chunk_cache_bytes = size;
  } else if (name == "blockcache" || name == "readahead") {
    if (client.kind != Client::Kind::hdf5)
      throw Error(Code::usage, fmt::format("+{} is for clients that read one file, not for {}", name, client.name));
    if (size < 1) refuse(option, text);
    client.fetch = name == "blockcache" ? Client::Fetch::blocks : Client::Fetch::readahead;
    client.fetch_bytes = size;
  } else {
    refuse(option, text);
  }
}

}  // namespace

std::span<const Client> clients() {
  static const std::vector<Client> list = make_clients();
  return list;
}

Client find_client(std::string_view text) {
  const auto plus = std::min(text.find('+'), text.size());
  std::string_view name = text.substr(0, plus);
  if (name == "h5py") name = "hdf5-2";
  std::vector<std::string> names;
  for (const Client& row : clients()) {
    names.push_back(row.name);
    if (row.name != name) continue;
    Client client = row;
    for (std::size_t at = plus; at < text.size();) {
      const auto end = std::min(text.find('+', at + 1), text.size());
      apply(client, text.substr(at + 1, end - at - 1), text);
      at = end;
    }
    if (plus < text.size()) client.name = std::string(text);
    return client;
  }
  throw Error(Code::usage, fmt::format("no client '{}'", name), suggest(std::string(name), names));
}

}  // namespace chunkwise
