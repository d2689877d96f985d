#include "exit_codes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "report/text_table.h"

namespace chunkwise {
namespace {

struct ExitCode {
  Code code;
  std::string_view commands;  // that can end with it: r(echunk), c(hunkadvise)
  std::string_view title;
  std::string_view cause;
  std::string_view remedy;
};

constexpr std::array<ExitCode, 12> kExitCodes = {{
    {Code::ok, "rc", "done", "All that was asked has been done; what rechunk wrote has its name and was verified.",
     "Notes on stderr say what did not go literally as asked."},
    {Code::usage, "rc", "the request makes no sense",
     "An option, a name or a spelling is unknown, or options contradict each other. Nothing was read or written.",
     "The message names the word, and the nearest known one. --help has examples."},
    {Code::not_found, "rc", "not found",
     "There is no such file or variable, or the file is no netCDF, HDF5 or Zarr dataset, whatever its name says.",
     "Look at the path that the message shows. Zarr is named by its folder, not by a file in it."},
    {Code::unsupported, "rc", "not supported",
     "The request is understood, but what it asks for cannot be done, or cannot be kept: a codec that is not built in, "
     "a "
     "type that the target format does not have. It is named, before anything is written.",
     "Choose another target format or codec, leave the variable out with --exclude, or accept what is listed with "
     "--allow-loss."},
    {Code::corrupt, "rc", "the input is corrupt",
     "The source contradicts itself, ends early, or a chunk does not decode or fails its checksum. The message says "
     "which "
     "chunk of which variable.",
     "Fetch the file again and compare its checksum. --exclude leaves a broken variable out."},
    {Code::io, "rc", "the system said no",
     "The disk is full, a permission is missing, a quota is reached, or the device failed. The message has the reason "
     "of "
     "the system.",
     "Mend that and run the same command again; with --resume rechunk goes on where it was."},
    {Code::budget, "rc", "does not fit the memory",
     "The work needs more than --memory allows: at least one chunk of source and target at once, decoded and encoded. "
     "Nothing was written.",
     "The message names the least --memory that does. Smaller target chunks, or an intermediate (--scratch), need "
     "less."},
    {Code::exists, "r", "the target exists", "Something stands under the name of the target, and it was not touched.",
     "Choose another name, or replace it with --overwrite: the old one stays until the new one is complete."},
    {Code::mismatch, "r", "verification found a difference",
     "What was read back is not what was written. The target did not get its name. Hardware is the usual cause: "
     "memory, "
     "disk, or a file system that lost a write.",
     "Run it again with --verify full, on another disk or machine. If it repeats, report it as a bug."},
    {Code::interrupted, "r", "interrupted",
     "The run was stopped by a signal (Ctrl-C, or the end of a batch job). Nothing stands under the final name.",
     "If the message says that what is done was kept, the same command with --resume goes on from there."},
    {Code::check_failed, "c", "--check failed",
     "The present layout is slower than the recommended one by more than --check-factor, and by more than the model "
     "can "
     "be wrong. The report was printed all the same.",
     "Write the data in the recommended layout, or give the accesses that matter with -a."},
    {Code::internal, "rc", "a bug in chunkwise", "Something happened that should be impossible.",
     "Please report it with the command, the message and, if possible, the file."},
}};

}  // namespace

std::string explain_exit_code(int code) {
  const auto row = std::find_if(kExitCodes.begin(), kExitCodes.end(),
                                [code](const ExitCode& r) { return static_cast<int>(r.code) == code; });
  if (row != kExitCodes.end()) {
    return wrap(fmt::format("{}: {}", code, row->title), 0) + wrap(fmt::format("  {}", row->cause), 2) +
           wrap(fmt::format("  {}", row->remedy), 2);
  }
  if (code == 141) return "141: the reader of the output went away (SIGPIPE), as with '| head'\n";
  std::vector<int> known;
  for (const ExitCode& r : kExitCodes) known.push_back(static_cast<int>(r.code));
  throw Error(Code::usage, fmt::format("no exit code {}", code), fmt::format("known: {}", fmt::join(known, ", ")));
}

std::string exit_code_list(const std::string& name) {
  std::string text = "Exit codes:\n";
  for (const ExitCode& row : kExitCodes) {
    if (row.commands.find(name.front()) != std::string_view::npos)
      text += fmt::format("  {:2}  {}\n", static_cast<int>(row.code), row.title);
  }
  return text + "  --explain-error N tells more.\n";
}

}  // namespace chunkwise
