#include "store/zip_spool.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace chunkwise {
namespace {

constexpr std::size_t kPartBytes = std::size_t{1} << 20;

}  // namespace

void ZipSpool::add(const std::string& key, std::uint64_t offset, ByteView bytes) {
  Whole::Piece piece{offset, bytes.size(), 0};
  {
    const std::lock_guard lock(mutex_);
    if (!fd_) fd_ = posix::nameless_file(folder_);
    piece.place = end_;
    end_ += bytes.size();
  }
  posix::write_at(fd_.get(), piece.place, bytes, folder_);
  const std::lock_guard lock(mutex_);
  pieces_[key].push_back(piece);
}

void ZipSpool::cut(const std::string& key, std::uint64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = pieces_.find(key);
  if (found == pieces_.end()) return;
  std::erase_if(found->second, [&](const Whole::Piece& piece) { return piece.offset >= size_bytes; });
}

ZipSpool::Whole ZipSpool::take(const std::string& key) {
  Whole whole;
  whole.spool_ = this;
  {
    const std::lock_guard lock(mutex_);
    if (auto node = pieces_.extract(key)) whole.pieces_ = std::move(node.mapped());
  }
  std::sort(whole.pieces_.begin(), whole.pieces_.end(),
            [](const Whole::Piece& a, const Whole::Piece& b) { return a.offset < b.offset; });
  for (const Whole::Piece& piece : whole.pieces_) {
    CHUNKWISE_CHECK(piece.offset == whole.size_bytes_);
    whole.size_bytes_ += piece.size_bytes;
  }
  return whole;
}

void ZipSpool::Whole::for_each_part(const std::function<void(ByteView)>& use) const {
  Bytes buffer(static_cast<std::size_t>(std::min<std::uint64_t>(size_bytes_, kPartBytes)));
  for (const Piece& piece : pieces_) {
    for (std::uint64_t done = 0; done < piece.size_bytes;) {
      const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), piece.size_bytes - done));
      posix::read_at(spool_->fd_.get(), piece.place + done, buffer.span().first(n), spool_->folder_);
      use(buffer.view().first(n));
      done += n;
    }
    // The room is given back where the file system can.
    static_cast<void>(::fallocate(spool_->fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                  static_cast<off_t>(piece.place), static_cast<off_t>(piece.size_bytes)));
  }
}

}  // namespace chunkwise
