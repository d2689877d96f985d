"""How the commands behave on a command line: help, version, typos, terminals, pipes, odd names."""

import os
import pty
import re
import shutil
import signal
import subprocess
from pathlib import Path

import harness

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "data" / "sample.nc"
TOOLS = ("rechunk", "chunkadvise")
ESCAPE = "\x1b"


def environment(**changes):
    changed = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "LC_ALL", "LANG")}
    changed.update(changes)
    return changed


def on_terminal(argv, **changes):
    """What a command prints where stdout and stderr are one terminal of 100 columns."""
    leader, follower = pty.openpty()
    subprocess.run(["stty", "cols", "100"], stdin=follower, check=True)
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=follower, stderr=follower, env=environment(**changes))
    os.close(follower)
    text = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        text += part
    os.close(leader)
    process.wait(timeout=60)
    return text.decode()


def test_help_is_grouped_and_no_wider_than_the_terminal(t):
    for tool, groups in (("rechunk", ("Layout", "Resources", "Safety")), ("chunkadvise", ("Question", "Layouts", "Without a file"))):
        text = t.run(tool, "--help", env=environment()).out
        t.equal("-h is --help", text, t.run(tool, "-h", env=environment()).out)
        for group in (*groups, "Output", "About", "Examples"):
            t.check("\n%s:\n" % group in text, "--help of %s has no group %s" % (tool, group))
        options = text[:text.index("\nExamples:")]
        t.none("lines of %s --help beyond 80" % tool, [line for line in options.split("\n") if len(line) > 80])
        narrow = t.run(tool, "--help", env=environment(COLUMNS="60")).out
        t.none("lines beyond COLUMNS=60", [line for line in narrow[:narrow.index("\nExamples:")].split("\n") if len(line) > 60])
        more = t.run(tool, "--help-all", env=environment()).out
        t.check(more.startswith(text) and "Exit codes" in more, "--help-all does not begin with --help")
    t.check("zstd[:LEVEL" in t.rechunk("--help-all").out, "--help-all of rechunk does not list codecs")
    t.check("nco-lfp" in t.chunkadvise("--help-all").out, "--help-all of chunkadvise does not list policies")


def test_version_names_libraries_and_codecs(t):
    for tool in TOOLS:
        text = t.run(tool, "--version").out
        t.check(re.match(r"%s \d+\.\d+\.\d+\n" % tool, text), "the first line is %r" % text.split("\n")[0])
        for word in (r"HDF5 \d+\.\d+\.\d+", r"zstd \d", r"c-blosc \d", "formats: nc4", "codecs: shuffle, deflate"):
            t.check(re.search(word, text), "--version does not show %s" % word)


def test_typos_of_options_and_values(t):
    t.run("rechunk", SAMPLE, t / "b.nc", "--chunk", "time/5", code=2, says="did you mean '--chunks'?")
    t.run("rechunk", SAMPLE, t / "b.nc", "--overwrit", code=2, says="did you mean '--overwrite'?")
    t.run("chunkadvise", SAMPLE, "--devise", "ssd", code=2, says="did you mean '--device'?")
    t.run("rechunk", SAMPLE, t / "b.nc", "--verify", "ful", code=2, says=("did you mean 'full'?", "none, sample, full"))
    t.run("rechunk", SAMPLE, t / "b.nc", "--verify", "no", code=2, says="none, sample, full")
    t.run("rechunk", SAMPLE, t / "b.nc", "--to", "zar3", code=2, says="did you mean 'zarr3'?")
    t.run("rechunk", SAMPLE, t / "b.nc", "--codec", "zstdd:3", code=2, says="did you mean 'zstd'?")
    t.run("rechunk", SAMPLE, t / "b.nc", "-c", "tiem/5", code=2, says="did you mean 'time'?")
    t.run("chunkadvise", SAMPLE, "--device", "nvmee", code=2, says="did you mean 'nvme'?")
    t.run("chunkadvise", SAMPLE, "--policy", "h5pi", code=2, says="did you mean 'h5py'?")
    t.run("chunkadvise", SAMPLE, "--objective", "wurst", code=2, says="did you mean 'worst'?")
    t.run("chunkadvise", SAMPLE, "-a", "time-sereis", code=2, says="did you mean 'time-series'?")
    t.run("chunkadvise", SAMPLE, "t2n", code=2, says="did you mean 't2m'?")
    t.run("chunkadvise", "calibate", code=3, says="did you mean 'calibrate'?", cwd=t.dir)
    t.equal("names in the folder", [], harness.listing(t.dir))


def test_every_exit_code_is_explained(t):
    for tool in TOOLS:
        for code in (0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 70):
            text = t.run(tool, "--explain-error", code).out
            t.check(text.startswith("%d: " % code) and text.count("\n") >= 3, "--explain-error %d says %r" % (code, text))
        t.run(tool, "--explain-error", "1", code=2, says="known: 0, 2, 3")
        t.run(tool, "--explain-error", "x", code=2)


def test_no_escape_sequences(t):
    """There are no colours, wherever the text goes; progress on a terminal rewrites its line and needs no more than \\r."""
    chunkadvise, rechunk = harness.binary("chunkadvise"), harness.binary("rechunk")
    for name, argv in (("chunkadvise", [chunkadvise, SAMPLE, "t2m"]), ("help", [rechunk, "--help"]),
                       ("rechunk", [rechunk, SAMPLE, t / "a.nc", "-c", "t2m:time/100"]), ("error", [rechunk, "absent", "b.nc"])):
        for changes in ({"TERM": "xterm-256color"}, {"TERM": "xterm-256color", "NO_COLOR": "1"}, {"TERM": "dumb"}):
            (t / "a.nc").unlink(missing_ok=True)
            t.check(ESCAPE not in on_terminal(argv, **changes), "%s prints escape sequences with %s" % (name, changes))
    t.check("\r" not in t.chunkadvise(SAMPLE).out, "a carriage return in a pipe")


def test_columns(t):
    widths = {}
    for columns in ("50", "80", "200", "5", "wide"):
        text = t.chunkadvise(SAMPLE, "t2m", env=environment(COLUMNS=columns)).out
        table = text[text.index("layout "):text.index("To rewrite")]
        widths[columns] = max(len(line) for line in table.split("\n"))
    t.check(widths["80"] <= 80 and widths["200"] > 80, "the widths are %s" % widths)
    t.check(widths["50"] < widths["80"], "COLUMNS=50 makes nothing narrower: %s" % widths)
    t.equal("what cannot be is as if it were not set", (widths["80"], widths["80"]), (widths["5"], widths["wide"]))
    text = on_terminal([harness.binary("chunkadvise"), SAMPLE, "t2m"], TERM="xterm")
    widest = max(len(line.rstrip("\r")) for line in text.split("\n"))
    t.check(80 < widest <= 100, "on a terminal of 100 columns the widest line has %d" % widest)


def test_tables_are_ascii_in_every_locale(t):
    texts = [t.chunkadvise(SAMPLE, env=environment(LC_ALL=locale, COLUMNS="80")).out for locale in ("C", "C.UTF-8", "de_DE.UTF-8")]
    t.check(texts[0].isascii(), "other letters than ASCII")
    t.check(texts[0] == texts[1] == texts[2], "the locale changes the report")
    shutil.copy(SAMPLE, t / "wärme.nc")
    text = t.chunkadvise(t / "wärme.nc", env=environment(LC_ALL="C")).out
    t.check("wärme.nc" in text, "the name of the file is not as it is")


def closed_pipe(argv):
    """Exit code and stderr of a command whose stdout nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writer)
    return done.returncode, done.stderr.decode()


def test_a_broken_pipe_is_silent(t):
    for argv in (["chunkadvise", SAMPLE], ["chunkadvise", SAMPLE, "--json"], ["chunkadvise", "--help"], ["rechunk", "--version"]):
        argv = [harness.binary(argv[0]), *map(str, argv[1:])]
        t.equal("exit code and stderr of %s" % argv[1:], (-signal.SIGPIPE, ""), closed_pipe(argv))
    t.equal("rechunk", (-signal.SIGPIPE, ""), closed_pipe([harness.binary("rechunk"), SAMPLE, t / "b.nc", "-c", "t2m:time/100"]))
    t.check((t / "b.nc").exists(), "the work was not done")


def test_a_broken_stderr_changes_nothing(t):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([harness.binary("rechunk"), "absent.nc", "b.nc"], cwd=t.dir, stdout=subprocess.DEVNULL, stderr=writer,
                          timeout=60, check=False)
    os.close(writer)
    t.equal("exit code", 3, done.returncode)


def test_standard_streams_are_refused_with_a_reason(t):
    t.refused("rechunk", "-", t / "b.nc", code=2, says=("SRC cannot be '-'", "pipe", "./-"))
    t.refused("rechunk", SAMPLE, "-", code=2, says=("DST cannot be '-'", "pipe"))
    t.refused("chunkadvise", "-", code=2, says=("FILE cannot be '-'", "pipe"))
    shutil.copy(SAMPLE, t / "-")
    t.rechunk("./-", "b.nc", "-q", cwd=t.dir)


def test_odd_names(t):
    names = ["with space.nc", "día-ü-数据.nc", "-dash.nc", "--verify", "quote'and\"quote.nc", "a$b;c&d.nc", "tab\there.nc"]
    for name in names:
        shutil.copy(SAMPLE, t / name)
        target = "-new " + name
        t.rechunk("-c", "t2m:time/100", "-q", "--", name, target, cwd=t.dir)
        t.check((t / target).exists(), "there is no %r" % target)
        text = t.chunkadvise("--", name, "t2m", cwd=t.dir).out
        command = text[text.index("To rewrite:\n") + 12:]
        # Typed as it stands, the command printed makes the file that it names.
        before = set(harness.listing(t.dir))
        path = "%s:%s" % (Path(harness.binary("rechunk")).parent, os.environ["PATH"])
        done = subprocess.run(["bash", "-c", command], cwd=t.dir, env=environment(PATH=path), capture_output=True, text=True, timeout=60,
                              check=False)
        made = set(harness.listing(t.dir)) - before
        t.check(done.returncode == 0 and len(made) == 1, "the command for %r does not work: %s%s" % (name, command, done.stderr))


def test_the_profile_is_where_it_is_said_to_be(t):
    profile = t / "config" / "chunkwise" / "profile.json"
    profile.parent.mkdir(parents=True)
    shutil.copy(ROOT / "data" / "unidata-hdd.profile.json", profile)
    said = t.chunkadvise(SAMPLE, env=environment(XDG_CONFIG_HOME=str(t / "config"))).out
    t.check("device unidata-hdd" in said, "the saved profile is not used: %s" % said[:200])
    shutil.move(t / "config", t / ".config")
    home = environment(HOME=str(t.dir))
    home.pop("XDG_CONFIG_HOME", None)
    t.check("device unidata-hdd" in t.chunkadvise(SAMPLE, env=home).out, "~/.config is not looked at")


if __name__ == "__main__":
    harness.main(globals())
