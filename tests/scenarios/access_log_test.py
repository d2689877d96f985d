"""chunkadvise --access-log, --objective and --check, from outside."""

import json

import h5py
import numpy as np

import harness


def make_h5(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("T", data=np.zeros((2000, 60, 80), "f4"), chunks=(1, 60, 80))
        file.create_dataset("S", data=np.zeros((50, 40), "i2"), chunks=(10, 10))
    return path


def line(target, status=200, end=""):
    return '10.0.0.1 - - [30/Nov/2026:10:00:00 +0000] "GET %s HTTP/1.1" %d 1234%s\n' % (target, status, end)


def test_log_gives_patterns_and_weights(t):
    make_h5(t / "a.h5")
    with open(t / "access.log", "w") as log:
        for i in range(3000):
            log.write(line("/thredds/dodsC/a.h5.dods?T%%5B0:1:1999%%5D%%5B%d%%5D%%5B%d%%5D" % (i % 60, i % 80)))
            if i % 10 == 0:
                log.write(line("/thredds/dodsC/a.h5.dods?T[%d][0:59][0:79]" % (i % 2000), end=' "-" "netCDF-C/4.9"'))
            if i % 100 == 0:
                log.write(line("/thredds/dodsC/a.h5.dds"))
                log.write(line("/thredds/dodsC/a.h5.dods?T[0]", status=500))
                log.write('{"variable": "S", "count": [50, 1]}\n')
        log.write("rubbish\n")
    document = t.chunkadvise(t / "a.h5", "--access-log", t / "access.log", "--json").document()
    t.equal("what was recognised", (3391, 3330, 30, 30, 1),
            tuple(document["access_log"][k] for k in ("lines", "recognised", "metadata", "failed", "not_understood")))
    found = {v["path"]: [(p["extents"], p["weight"]) for p in v["patterns"]] for v in document["variables"]}
    t.equal("patterns", {"/T": [([2000, 1, 1], 3000.0), ([1, 60, 80], 300.0)], "/S": [([50, 1], 30.0)]}, found)
    text = t.chunkadvise(t / "a.h5", "--access-log", t / "access.log").out
    t.check("rubbish" in text and "3,330 reads of data" in text, text[:600])


def test_logs_that_say_nothing(t):
    make_h5(t / "a.h5")
    (t / "empty.log").write_text("")
    (t / "other.log").write_text("nothing here\n" + line("/a.h5.dds"))
    (t / "elsewhere.log").write_text(line("/b.nc.dods?Q[0][0]"))
    (t / "beyond.log").write_text(line("/b.nc.dods?T[0:5000][0][0]"))
    t.chunkadvise(t / "a.h5", "--access-log", t / "empty.log", code=2, says="no line")
    t.chunkadvise(t / "a.h5", "--access-log", t / "other.log", code=2, says=("no line", "nothing here"))
    t.chunkadvise(t / "a.h5", "--access-log", t / "elsewhere.log", code=2, says=("none of the variables", "Q"))
    t.chunkadvise(t / "a.h5", "--access-log", t / "beyond.log", code=2, says="extents")
    t.chunkadvise(t / "a.h5", "--access-log", t / "none.log", code=3)


def test_a_long_log_streams(t):
    make_h5(t / "a.h5")
    with open(t / "long.log", "w") as log:
        for i in range(200000):
            log.write(line("/dodsC/a.h5.dods?T[%d:%d][%d:%d][%d]" % (i % 1000, i % 1000 + i % 900, i % 7, 7 + i % 50, i % 80)))
    result = t.run("chunkadvise", t / "a.h5", "/T", "--access-log", t / "long.log", "--json", measure=True)
    t.equal("lines", 200000, result.document()["access_log"]["recognised"])
    t.check(result.peak_rss_bytes < 100e6, "%.0f MB" % (result.peak_rss_bytes / 1e6))
    t.check(result.seconds < 20, "%.1f s" % result.seconds)


def test_steps(t):
    make_h5(t / "a.h5")
    document = t.chunkadvise(t / "a.h5", "/T", "-a", "daily=0/10/24,1/1,2/1", "--json").document()
    variable = document["variables"][0]
    t.equal("pattern", ([10, 1, 1], [24, 1, 1]), (variable["patterns"][0]["extents"], variable["patterns"][0]["steps"]))
    current = next(e for e in variable["layouts"] if e["name"] == "current")
    t.equal("chunks", 10, current["costs"][0]["chunks"])
    t.chunkadvise(t / "a.h5", "/T", "-a", "daily=0/1000/24", code=2, says="exceed")
    t.chunkadvise(t / "a.h5", "/T", "-a", "daily=0/10/0", code=2, says="step")


def recommended(document):
    return next(e for e in document["variables"][0]["layouts"] if e["name"] == "recommended")


def test_objectives(t):
    base = ("--shape", "20000,200,300", "--dims", "time,y,x", "--device", "hdd", "-a", "time-series@100", "-a", "map@1")
    results = {name: t.chunkadvise(*base, "--objective", name, "--json").document()
               for name in ("weighted", "worst", "p95", "cost")}
    worst = {name: max(c["seconds"] for c in recommended(d)["costs"]) for name, d in results.items()}
    t.check(worst["worst"] <= min(worst.values()) * 1.001, "slowest access by objective: %s" % worst)
    # 100 of 101 reads are series: 95 % of the weight.
    series = {name: recommended(d)["costs"][0]["seconds"] for name, d in results.items()}
    t.check(series["p95"] <= min(series.values()) * 1.001, "series by objective: %s" % series)
    for name, document in results.items():
        pick = recommended(document)
        least = min(e["objective"] for e in document["variables"][0]["layouts"]
                    if e["chunks"] and 65536 <= 4 * np.prod(e["chunks"]) <= 16 * 2**20)
        t.check(pick["objective"] <= least * (1 + 1e-9), "%s: %s, but %s is listed" % (name, pick["objective"], least))
    dear = recommended(t.chunkadvise(*base, "--objective", "cost", "--price-per-request", "0", "--price-per-gb", "1",
                                     "--json").document())
    bytes_read = sum(c["bytes_read"] * w for c, w in zip(dear["costs"], (100, 1)))
    t.check(abs(dear["objective"] / (bytes_read / 1e9) - 1) < 1e-6, "cost %s of %s bytes" % (dear["objective"], bytes_read))
    t.chunkadvise(*base, "--objective", "best", code=2, says=("best", "weighted"))


def test_check(t):
    make_h5(t / "a.h5")
    series = ("-a", "series=0/all,1/1,2/1", "--device", "hdd")
    result = t.chunkadvise(t / "a.h5", "/T", *series, "--check", "--json", code=11, says=("/T", "faster"))
    t.check(json.loads(result.out)["variables"], "no report beside the verdict")
    t.chunkadvise(t / "a.h5", "/T", *series, "--check", "--check-factor", "1e9")
    t.chunkadvise(t / "a.h5", "/T", "-a", "map=0/1", "--device", "hdd", "--check")
    t.chunkadvise("--shape", "10,10", "--check", code=2)


if __name__ == "__main__":
    harness.main(globals())
