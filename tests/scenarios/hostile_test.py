"""Damaged files that crash readers: the commands end in time, within 2 GiB, with a sentence, and never by a signal.

The files are not part of this repository: CHUNKWISE_CORPUS names their folder, or they lie in ../shared/corpus beside the
checkout.
"""

import resource

import harness

LIMIT_S = 10
LIMIT_BYTES = 2 << 30
CODES = (0, 3, 4, 5)


def corpus(folder):
    """The files of this folder of the corpus."""
    root = harness.corpus()
    files = [p for p in sorted((root / folder).rglob("*")) if p.is_file()] if root else []
    if not files:
        raise harness.Skip("no files of %s; CHUNKWISE_CORPUS names the folder of the corpus" % folder)
    return files


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))


def survive(t, path):
    """Both commands end as they should; a target is there only if rechunk says so."""
    t.source(path)
    t.chunkadvise(path, code=CODES, timeout=LIMIT_S, preexec_fn=limited)
    target = t / (path.name + ".out.h5")
    result = t.rechunk(path, target, "--to", "h5", code=CODES, timeout=LIMIT_S, preexec_fn=limited)
    t.equal("names in the folder", [target.name] if result.code == 0 else [], harness.listing(t.dir))
    if target.exists():
        target.unlink()


def test_files_of_published_vulnerabilities(t):
    for path in corpus("cve_hdf5"):
        survive(t, path)


def test_malformed_classic_headers(t):
    for path in corpus("pnetcdf-bad"):
        survive(t, path)


if __name__ == "__main__":
    harness.main(globals())
