"""chunkadvise predict and calibrate --from: published timings, and tables made from known constants.

With CHUNKWISE_REFERENCE naming the folder of the measured S3 reads (geosfp_s3/read_times.csv), also those.
"""

import csv
import itertools
import json
import math
import os
import statistics
from pathlib import Path

import harness

ROOT = Path(os.environ.get("CHUNKWISE_SOURCE_DIR", Path(__file__).resolve().parents[2]))
TABLE = ROOT / "data" / "unidata_narr.csv"
PROFILE = ROOT / "data" / "unidata-hdd.profile.json"
NARR = ("--shape", "98128,277,349", "--dtype", "f4", "--dims", "time,y,x")


def test_published_table(t):
    """The ten published cells: each within 1.3 with one set of constants."""
    report = t.chunkadvise("predict", "--device", PROFILE, "--timings", TABLE, *NARR, "--json").document()
    rows = list(csv.DictReader(TABLE.open()))
    t.equal("rows", [(r["pattern"], float(r["wall_s"])) for r in rows],
            [(c["pattern"], c["wall_s"]) for c in report["cells"]])
    for cell in report["cells"]:
        ratio = cell["predicted_s"] / cell["wall_s"]
        t.check(max(ratio, 1 / ratio) <= 1.3, "a cell is off by more than 1.3: %s" % cell)
        t.check(cell["low_s"] <= cell["predicted_s"] <= cell["high_s"], "interval of %s" % cell)
    apes = sorted(abs(c["predicted_s"] / c["wall_s"] - 1) for c in report["cells"])
    t.equal("median_ape", round((apes[4] + apes[5]) / 2, 12), round(report["median_ape"], 12))
    t.equal("p95_ape", round(apes[8] + 0.55 * (apes[9] - apes[8]), 12), round(report["p95_ape"], 12))
    t.equal("within_1_5x", 1.0, report["within_1_5x"])
    t.check({"kendall_tau", "regret", "patterns"} <= set(report), "members: %s" % sorted(report))
    text = t.chunkadvise("predict", "--device", PROFILE, "--timings", TABLE, *NARR).out
    t.check("median error" in text and max(map(len, text.splitlines())) <= 80 + len(str(TABLE)), text)


def write_table(path, rows):
    names = ["pattern"] + ["%s_%s" % (a, d) for d in "tyx" for a in ("start", "n")] + ["chunk_" + d for d in "tyx"]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names + ["wall_s"])
        writer.writerows(rows)


def made_rows():
    """40 ms to open, 3 ms a chunk, rounds of 16 at 150 MB/s, 600 MB/s decoded."""
    for t, s, (name, start, count) in itertools.product(
            (1, 10, 100, 1000), (10, 50, 200),
            (("series", (0, 5, 7), (1000, 1, 1)), ("map", (744, 0, 0), (1, 200, 200)))):
        chunk = (t, s, s)
        n = math.prod((b + k - 1) // c - b // c + 1 for b, k, c in zip(start, count, chunk))
        size = 4 * math.prod(chunk)
        wall = 0.04 + 3e-3 * n + math.ceil(n / 16) * size / 150e6 + n * size / 600e6
        yield [name] + [v for pair in zip(start, count) for v in pair] + list(chunk) + [repr(wall)]


def test_calibrate_from_a_table(t):
    write_table(t / "made.csv", made_rows())
    array = ("--shape", "1000,200,200")
    report = t.chunkadvise("calibrate", "--from", t / "made.csv", *array, "--out", t / "made.json", "--json").document()
    t.check(report["median_ape"] < 1e-3, "the fit misses its own table: %s" % report["median_ape"])
    profile = json.loads((t / "made.json").read_text())
    t.equal("schema", "chunkwise-profile/1", profile["schema"])
    constants = profile["constants"]
    for name, expected in (("open_s", 0.04), ("chunk_s", 3e-3), ("stream_Bps", 150e6), ("decode_Bps", 600e6),
                           ("in_flight", 16)):
        value = constants[name]["value"]
        t.check(abs(value / expected - 1) < 0.02, "%s is %s, not %s" % (name, value, expected))
    for name, entry in constants.items():
        t.check({"value", "low", "high", "unit", "source"} <= set(entry) and entry["source"], "%s: %s" % (name, entry))
    again = t.chunkadvise("predict", "--timings", t / "made.csv", "--device", t / "made.json", *array, "--json").document()
    t.equal("the same figures", report["cells"], again["cells"])
    # Without --out it becomes the profile of this machine, used from then on.
    home = {"env": {**os.environ, "XDG_CONFIG_HOME": str(t / "config")}}
    t.chunkadvise("calibrate", "--from", t / "made.csv", *array, **home)
    advice = t.chunkadvise("--shape", "1000,200,200", "--json", **home).document()
    t.equal("the device", {"name": "made", "calibrated": True}, advice["device"])
    t.chunkadvise("--shape", "1000,200,200", "--device", t / "made.json", "--explain")


def test_refusals(t):
    write_table(t / "made.csv", made_rows())
    array = ("--shape", "1000,200,200")
    t.chunkadvise("predict", "--timings", t / "made.csv", *array, "--device", "floppy", code=2, says=("floppy", "hdd"))
    t.chunkadvise("predict", "--timings", t / "made.csv", "--shape", "1000,200", code=2, says="dimensions")
    t.chunkadvise("predict", "--timings", t / "made.csv", "--shape", "100,200,200", code=2, says="line ")
    t.chunkadvise("predict", "--timings", t / "made.csv", *array, "--dims", "a,b,c", code=2, says="start_a")
    t.chunkadvise("predict", "--timings", t / "none.csv", *array, code=3)
    t.chunkadvise("predict", *array, code=2, says="--timings")
    t.chunkadvise("calibrate", "--from", t / "made.csv", code=2, says="--shape")
    t.chunkadvise("calibrate", t, "--budget", "600", code=2, says="--budget")
    profile = json.loads(PROFILE.read_text())
    profile["schema"] = "chunkwise-profile/9"
    (t / "newer.json").write_text(json.dumps(profile))
    t.chunkadvise("predict", "--timings", t / "made.csv", *array, "--device", t / "newer.json", code=2,
                  says="chunkwise-profile/9")
    (t / "broken.json").write_text("{")
    t.chunkadvise("predict", "--timings", t / "made.csv", *array, "--device", t / "broken.json", code=5)


def test_calibrate_this_machine(t):
    (t / "data").mkdir()
    document = t.chunkadvise("calibrate", t / "data", "--budget", "2", "--out", t / "here.json", "--json").document()
    t.equal("nothing is left behind", [], harness.listing(t / "data"))
    t.equal("kinds of probes", {"random": 4, "skip": 4, "open": 1},
            {k: sum(p["kind"] == k for p in document["probes"]) for k in ("random", "skip", "open")})
    for probe in document["probes"]:
        t.check(probe["n"] >= 7 and 0 < probe["quartile_1_s"] <= probe["median_s"] <= probe["quartile_3_s"], probe)
    profile = json.loads((t / "here.json").read_text())
    for name in ("access_s", "stream_Bps", "total_Bps", "codec_speed", "copy_Bps"):
        entry = profile["constants"][name]
        t.check(0 < entry["low"] <= entry["value"] <= entry["high"] and entry["source"], "%s: %s" % (name, entry))
    t.check(profile["machine"]["cores"] >= 1 and profile["calibrated"], "machine: %s" % profile.get("machine"))
    advice = t.chunkadvise("--shape", "1000,200,200", "--device", t / "here.json", "--json").document()
    t.equal("calibrated", True, advice["device"]["calibrated"])
    t.chunkadvise("calibrate", t / "nowhere", "--budget", "1", "--out", t / "x.json", code=6)
    text = t.chunkadvise("calibrate", t / "data", "--budget", "1", "--out", "x.json", cwd=t.dir).out
    t.check("access_s" in text and "quartiles" in text, text)


def test_measured_reads_on_s3(t):
    """Fitted to two patterns, the other two must come out."""
    if "CHUNKWISE_REFERENCE" not in os.environ:
        raise harness.Skip("CHUNKWISE_REFERENCE is not set")
    table = Path(os.environ["CHUNKWISE_REFERENCE"]) / "geosfp_s3" / "read_times.csv"
    rows = list(csv.DictReader(table.open()))
    patterns = sorted({row["pattern"] for row in rows})
    array = ("--shape", "5136,721,1152", "--dtype", "f4", "--dims", "time,lat,lon")
    medians, p95s, taus = [], [], []
    for pair in itertools.combinations(patterns, 2):
        for name, keep in (("fit", True), ("judge", False)):
            with open(t / (name + ".csv"), "w", newline="") as file:
                writer = csv.DictWriter(file, rows[0].keys())
                writer.writeheader()
                writer.writerows(row for row in rows if (row["pattern"] in pair) == keep)
        t.chunkadvise("calibrate", "--from", t / "fit.csv", *array, "--out", t / "s3.json")
        report = t.chunkadvise("predict", "--timings", t / "judge.csv", "--device", t / "s3.json", *array, "--json").document()
        print("        %s: median %.3f, p95 %.3f, tau %s, regret %.2f" % (
            " + ".join(pair), report["median_ape"], report["p95_ape"],
            ["%.3f" % p["kendall_tau"] for p in report["patterns"]], report["regret"]))
        medians.append(report["median_ape"])
        p95s.append(report["p95_ape"])
        taus += [p["kendall_tau"] for p in report["patterns"]]
    t.check(statistics.median(medians) <= 0.19, "median errors are %s" % medians)
    t.check(max(p95s) <= 0.60, "95th percentiles are %s" % p95s)
    t.check(statistics.median(taus) >= 0.86, "tau is %s" % taus)


if __name__ == "__main__":
    harness.main(globals())
