"""What a fresh process loads on the way to its first answer: only what that answer needs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

# what nothing on the way to one answer may load: each costs tenths of a second, torch several seconds
NEVER = {
    "torch", "sentence_transformers", "transformers", "sklearn", "huggingface_hub", "onnx", "numba", "scipy", "pandas", "pyarrow",
    "matplotlib", "PIL", "joblib", "dask", "distributed", "optuna", "IPython", "anywidget", "jinja2",
}  # fmt: skip
# what the model, the index and the counting of tokens need, and a list of commands does not
FOR_AN_ANSWER = {"numpy", "faiss", "onnxruntime", "tokenizers", "tiktoken", "rank_bm25", "regex"}

ASSEMBLE = """
from workbench import Assembler, Memory, UserStore
store = UserStore("ana", memories=[
    Memory(id="m1", text="The ferry leaves at noon", created_at="2026-03-01"),
    Memory(id="m2", text="The printer needs magenta ink", created_at="2026-03-01"),
])
context = Assembler(store).assemble("When does the boat depart?", now="2026-03-02")
"""


def loaded_after(code: str, cache: Path) -> set[str]:
    """Names of the top-level modules in a new process after ``code``."""
    report = "import json, sys; sys.stderr.write('\\n' + json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"],
        capture_output=True, text=True, env={**os.environ, "WORKBENCH_CACHE": str(cache)},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return set(json.loads(run.stderr.rsplit("\n", 1)[1]))


def cli(*words: str) -> str:
    return (
        f"import sys; sys.argv = {['workbench', *words]!r}\n"
        "from workbench.cli import app\n"
        "try:\n    app()\nexcept SystemExit as done:\n    assert not done.code, done.code"
    )


def test_the_package_itself_is_light(tmp_path: Path) -> None:
    assert not loaded_after("import workbench, workbench.errors", tmp_path) & (NEVER | FOR_AN_ANSWER)


@pytest.mark.parametrize("words", [("--help",), ("assemble", "--help"), ("run", "--help"), ("data", "--help")], ids=" ".join)
def test_help_loads_only_the_command_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    loaded = loaded_after(cli(*words), tmp_path)
    # rich takes longer to load than all the rest
    assert not loaded & (NEVER | FOR_AN_ANSWER | {"rich", "markdown_it", "pygments"})
    # typer checks the arguments of a command with it
    assert words != ("--help",) or "pydantic" not in loaded


def test_help_lists_commands_with_whole_sentences() -> None:
    from typer.testing import CliRunner

    from workbench.cli import app

    for words in ([], ["data"], ["runs"], ["weights"]):
        shown = CliRunner().invoke(app, [*words, "--help"])
        assert shown.exit_code == 0
        listing = shown.output.partition("Commands:")[2]
        assert len(listing.split()) > 12
        assert "..." not in listing
        assert all(entry.rstrip().endswith(".") for entry in re.split(r"\n  (?=[a-z])", listing)[1:])


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], Path]:
    """What a first answer loaded, and the cache that it left."""
    cache = tmp_path_factory.mktemp("answered")
    return loaded_after(ASSEMBLE, cache), cache


def test_a_first_answer_with_the_bundled_model_needs_no_torch(answered: tuple[set[str], Path]) -> None:
    loaded, _ = answered
    assert not loaded & NEVER
    assert loaded >= FOR_AN_ANSWER  # or the lists above name modules that do not exist


def test_printing_an_answer_needs_no_tables(answered: tuple[set[str], Path]) -> None:
    code = ASSEMBLE + "from workbench.reports.terminal import print_context\nprint_context(context, explain='m1', rows=9)"
    assert not loaded_after(code, answered[1]) & NEVER


def test_a_warm_cache_gives_the_entries_without_encoding_them_again(answered: tuple[set[str], Path]) -> None:
    code = (
        "from workbench.embedding.onnx_encoder import OnnxEncoder\nasked = []\nreal = OnnxEncoder.encode\n"
        "def encode(self, texts):\n    asked.extend(texts)\n    return real(self, texts)\nOnnxEncoder.encode = encode\n"
        f"{ASSEMBLE}\nassert asked == ['When does the boat depart?'], asked"
    )
    loaded_after(code, answered[1])


@pytest.mark.slow
def test_a_first_answer_on_the_starter_set_from_the_command_line(tmp_path: Path) -> None:
    loaded = loaded_after(cli("assemble", "--dataset", "starter", "--user", "tidewater", "When does the ferry leave?"), tmp_path)
    assert not loaded & NEVER
