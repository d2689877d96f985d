"""Man pages, completions and JSON Schemas, against what the commands say and print."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import fastjsonschema

import harness

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "data" / "sample.nc"
SCHEMAS = ROOT / "docs" / "schemas"
COMMANDS = ("rechunk", "chunkadvise", "chunkadvise calibrate", "chunkadvise predict")


def options_in_help(t, command):
    """Every option that --help shows in its left column."""
    tool, *words = command.split()
    text = t.run(tool, *words, "--help").out
    lines = [re.match(r"  (-\S+)", line) for line in text[:text.find("\nExamples:")].split("\n")]
    return [name for line in lines if line for name in line.group(1).split(",")]


def test_what_is_generated_is_up_to_date(t):
    done = subprocess.run([sys.executable, ROOT / "tools/reference"], capture_output=True, text=True, check=False)
    t.check(done.returncode == 0, done.stdout + done.stderr)


def test_man_pages_have_every_option(t):
    for command in COMMANDS:
        page = (ROOT / "share/man/man1" / (command.split()[0] + ".1")).read_text().replace("\\-", "-")
        options = options_in_help(t, command)
        t.check(len(options) > 8, "--help of %s shows %d options" % (command, len(options)))
        t.none("options of %s that the man page does not have" % command,
               [name for name in options if not re.search(r"\\fB%s\\fR" % re.escape(name), page)])


def test_man_pages_are_well_formed(t):
    if not shutil.which("groff"):
        raise harness.Skip("there is no groff")
    for page in sorted((ROOT / "share/man/man1").iterdir()):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-K", "utf8", page], capture_output=True, text=True, check=False)
        t.equal("what groff says of %s" % page.name, (0, ""), (done.returncode, done.stderr))


def bash_completes(words):
    """What bash offers for the last word."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _"$1"; printf "%s\\n" "${COMPREPLY[@]}"'
    path = ROOT / "share/bash-completion/completions" / words[0]
    done = subprocess.run(["bash", "-c", script, "bash", path, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted(done.stdout.split())


def test_bash_completion(t):
    for words, expected in ((["rechunk", "--ver"], ["--verify", "--version"]),
                            (["rechunk", "a", "b", "--verify", ""], ["full", "none", "sample"]),
                            (["rechunk", "a", "b", "--to", "zarr"], ["zarr2", "zarr3"]),
                            (["rechunk", "a", "b", "--codec", "bit"], ["bitshuffle"]),
                            (["rechunk", "data/sam"], ["data/sample.nc"]),
                            (["rechunk", "a", "b", "--memory", ""], []),
                            (["chunkadvise", "cali"], ["calibrate"]),
                            (["chunkadvise", "data/sam"], ["data/sample.nc"]),
                            (["chunkadvise", "calibrate", "--f"], ["--from"]),
                            (["chunkadvise", "a.nc", "--device", "nv"], ["nvme"]),
                            (["chunkadvise", "a.nc", "--device", "data/unidata-"], ["data/unidata-hdd.profile.json"]),
                            (["chunkadvise", "a.nc", "--policy", "h5"], ["h5py"])):
        t.equal("completion of %s" % words, expected, bash_completes(words))
    for command in ("rechunk", "chunkadvise"):
        t.none("options of %s that are not offered" % command,
               [name for name in options_in_help(t, command) if name not in bash_completes([command, "-"])])


def test_completions_of_other_shells_have_every_option(t):
    for command in COMMANDS:
        tool = command.split()[0]
        zsh = (ROOT / "share/zsh/site-functions" / ("_" + tool)).read_text()
        fish = (ROOT / "share/fish/vendor_completions.d" / (tool + ".fish")).read_text()
        for name in options_in_help(t, command):
            t.check("%s[" % name in zsh, "zsh: no %s" % name)
            spelled = "-l %s " % name[2:] if name.startswith("--") else "-s %s " % name[1:]
            t.check(spelled in fish, "fish: no %s" % name)


def check_syntax(t, shell, folder):
    if not shutil.which(shell):
        raise harness.Skip("there is no %s" % shell)
    for path in sorted((ROOT / "share" / folder).iterdir()):
        done = subprocess.run([shell, "-n", path], capture_output=True, text=True, check=False)
        t.equal("what %s says of %s" % (shell, path.name), (0, ""), (done.returncode, done.stderr))


def test_zsh_syntax(t):
    check_syntax(t, "zsh", "zsh/site-functions")


def test_fish_syntax(t):
    check_syntax(t, "fish", "fish/vendor_completions.d")


def closed(schema):
    """The schema that allows no members but those it names: documentation must name all, readers must not mind more."""
    if isinstance(schema, dict):
        schema = {key: closed(value) for key, value in schema.items()}
        if "properties" in schema:
            schema["additionalProperties"] = False
    elif isinstance(schema, list):
        schema = [closed(value) for value in schema]
    return schema


def validate(t, document):
    path = SCHEMAS / (document["schema"].replace("/", "-") + ".schema.json")
    schema = json.loads(path.read_text())
    for what, rules in (("", schema), ("a member is missing in the schema: ", closed(schema))):
        try:
            fastjsonschema.compile(rules)(document)
        except fastjsonschema.JsonSchemaException as wrong:
            t.fail("%s: %s%s" % (path.name, what, wrong))
            return


def test_json_of_chunkadvise(t):
    for arguments in ([SAMPLE], [SAMPLE, "--policy", "rew:64KiB", "--candidate", "contiguous"], ["--shape", "100,20,30"]):
        validate(t, t.chunkadvise(*arguments, "--json").document())
    t.rechunk(SAMPLE, t / "a.zarr", "-c", "t2m:time/10,lat/5,lon/9", "--shards", "t2m:time/100,lat/all,lon/all", "-q")
    validate(t, t.chunkadvise(t / "a.zarr", "--device", "s3", "--objective", "worst", "--json").document())
    (t / "log").write_text('{"variable": "t2m", "start": [0, 5, 7], "count": [1460, 1, 1]}\n')
    validate(t, t.chunkadvise(SAMPLE, "--access-log", t / "log", "--json").document())


def test_json_of_predict_and_calibrate(t):
    data = ROOT / "data"
    table = ("--shape", "98128,277,349", "--dims", "time,y,x", "--json")
    validate(t, t.chunkadvise("predict", "--device", data / "unidata-hdd.profile.json", "--timings", data / "unidata_narr.csv",
                              *table).document())
    validate(t, t.chunkadvise("calibrate", "--from", data / "unidata_narr.csv", "--out", t / "fit.json", *table).document())
    if os.environ.get("CHUNKWISE_FULL") == "1":
        validate(t, t.chunkadvise("calibrate", t.dir, "--budget", "1", "--out", t / "disk.json", "--json").document())


def test_json_of_rechunk(t):
    for arguments in (["--dry-run", "-c", "t2m:time/100"], ["-c", "t2m:time/100", "--verify", "full"], ["--overwrite"],
                      ["--overwrite", "-c", "t2m:time/50", "--codec", "t2m:none", "--stats"]):
        validate(t, t.rechunk(SAMPLE, t / "b.nc", *arguments, "--json").document())
    validate(t, t.rechunk(SAMPLE, t / "b.zarr", "-c", "t2m:time/10,lat/5,lon/9", "--shards", "t2m:time/100,lat/all,lon/all",
                          "--json").document())
    validate(t, t.rechunk(SAMPLE, t / "c.nc", "-c", "t2m:time/all,lat/1,lon/1", "--resume", "--json").document())


if __name__ == "__main__":
    harness.main(globals())
