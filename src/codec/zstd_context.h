// The zstd contexts of a thread, shared by the codecs that use zstd: they are large and keep their tables from chunk to
// chunk.
#pragma once

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace chunkwise {

/// Throw Error{budget} if there is no memory. What a codec sets it must reset before use, as others set their own.
ZSTD_CCtx_s* thread_zstd_encoder();
ZSTD_DCtx_s* thread_zstd_decoder();

}  // namespace chunkwise
