"""The layer check passes on this checkout, and fails when a forbidden include or name is added to a copy of it."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("CHUNKWISE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))


def check(root):
    command = [sys.executable, str(ROOT / ".ci/check_layers"), str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


class Layers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        for name in (".ci", "src", "include", "tools", "tests", "bench", "data", "docs"):
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, self.root / name)

    def tearDown(self):
        self.folder.cleanup()

    def add(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def refused(self, path, text, *words):
        """Adding this file is found, at its line, with a sentence that holds all the words."""
        self.add(path, text)
        code, said = check(self.root)
        self.assertEqual(code, 1, said)
        faults = [line for line in said.splitlines() if line.startswith(path)]
        self.assertTrue(any(all(w in line for w in words) for line in faults), said)

    def test_the_checkout_is_clean(self):
        code, said = check(ROOT)
        self.assertEqual(code, 0, said)

    def test_a_lower_folder_includes_a_higher_one(self):
        self.refused("src/base/probe.cc", '\n#include "grid/box.h"\n', "probe.cc:2", "base is below grid")

    def test_siblings_include_each_other(self):
        self.refused("src/codec/probe.cc", '#include "store/store.h"\n', "codec and store are siblings")

    def test_the_library_includes_the_tools(self):
        self.add("src/tools/probe.h", "")
        self.refused("src/app/probe.cc", '#include "tools/probe.h"\n', "app is below tools")

    def test_a_format_includes_another(self):
        self.add("src/format/zarr2/probe.h", "")
        self.refused("src/format/zarr3/probe.cc", '#include "format/zarr2/probe.h"\n', "format/zarr2/ itself")

    def test_a_concrete_format_outside_the_registry(self):
        self.add("src/format/zarr2/probe.h", "")
        self.refused("src/app/probe.cc", '#include "format/zarr2/probe.h"\n', "only format/registry.cc")

    def test_the_registry_may_include_concrete_formats(self):
        self.add("src/format/zarr2/probe.h", "")
        self.add("src/format/registry.cc", '#include "format/zarr2/probe.h"\n')
        code, said = check(self.root)
        self.assertEqual(code, 0, said)

    def test_hdf5_headers_outside_their_folder(self):
        for header in ("hdf5.h", "H5FDpublic.h"):
            self.refused("src/rechunk/probe.cc", f"#include <{header}>\n", "format/hdf5/ only")

    def test_json_in_a_header(self):
        self.refused("src/report/probe.h", "#include <nlohmann/json.hpp>\n", "take base/json_fwd.h")
        self.refused("src/report/probe.h", '#include "base/json.h"\n', "take base/json_fwd.h")

    def test_rechunk_names_a_format(self):
        self.refused("src/rechunk/probe.cc", '#include "format/registry.h"\n', "knows no format")

    def test_a_name_that_says_nothing(self):
        for name in ("string_util.h", "common.cc", "chunk_helpers.h", "memory_manager.cc", "misc.h"):
            self.refused(f"src/base/{name}", "", "says nothing")
            (self.root / "src/base" / name).unlink()

    def test_a_folder_without_a_layer_or_a_word_about_it(self):
        self.add("src/extra/probe.cc", "")
        code, said = check(self.root)
        self.assertEqual(code, 1)
        self.assertIn("src/extra: has no line in .ci/layers.txt", said)
        self.assertIn("src/extra: is not named in docs/architecture.md", said)

    def test_the_library_prints(self):
        self.refused("src/base/probe.cc", "void f() { std::cout << 1; }\n", "never prints")

    def test_a_page_that_is_not_there(self):
        self.refused("src/base/probe.cc", "// Grammar: docs/absent.md.\n", "probe.cc:1", "does not exist")

    def test_an_include_of_nothing(self):
        self.refused("src/base/probe.cc", '#include "error.h"\n', "spell the whole path")


if __name__ == "__main__":
    unittest.main()
