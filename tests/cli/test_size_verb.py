"""`whybox size` as a process: formats by suffix, JSON alone on stdout, one line of cause and one of remedy."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.conftest import Whybox
from tests.size.published import DEEPSEEK_V3, LLAMA_2_70B
from whybox.cli.main import app


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA_2_70B))
    return path


def test_json_is_alone_on_stdout(whybox: Whybox, config: Path) -> None:
    ended = whybox("size", str(config), "--json", "--memory", "160GB", "--batch", "2")
    document = json.loads(ended.out)
    assert (ended.code, ended.err) == (0, "")
    assert document["kv_cache"]["bytes"] == 2 * 1_342_177_280
    assert document["fit"]["batch"] == 16


def test_each_suffix_has_its_format(config: Path, tmp_path: Path) -> None:
    formats = {"x.html": b"<!doctype html>", "x.csv": b"context,", "x.png": b"\x89PNG", "x.svg": b"<svg"}
    for name, begins in formats.items():
        ended = CliRunner().invoke(app, ["size", str(config), "-o", str(tmp_path / name)])
        assert (ended.exit_code, ended.stdout) == (0, f"→ {tmp_path / name}\n")
        assert (tmp_path / name).read_bytes().startswith(begins)


def test_a_family_and_its_numbers() -> None:
    numbers = {"hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 6, "intermediate_size": 1365}
    numbers |= {"vocab_size": 1000, "max_position_embeddings": 1024}
    words = [f"{key}={value}" for key, value in numbers.items()]
    ended = CliRunner().invoke(app, ["size", "llama", *words, "--json"])
    first = json.loads(ended.stdout)["matrices"][0]
    assert (first["name"], first["shape"], first["parameters"]) == ("query", [512, 512], 6 * 262_144)


@pytest.mark.parametrize(
    ("arguments", "code", "cause", "remedy"),
    [
        (["absent.json"], 2, "there is no file absent.json", "give a config.json"),
        (["llama"], 2, "llama: num_attention_heads is missing", "num_attention_heads=…"),
        (["CONFIG", "--memory", "24 gigs"], 2, "--memory '24 gigs' is no amount", "write 24GB"),
        (["CONFIG", "--bandwidth", "3TB"], 2, "--bandwidth '3TB' is no amount", "write 3.35TB/s"),
        (["CONFIG", "--dtype", "fp12"], 2, "--dtype 'fp12' is no type of numbers", "known: fp64, fp32, bf16"),
        (["CONFIG", "--context", "0"], 2, "--context 0 cannot be", "from 1 to 1,000,000,000"),
        (["CONFIG", "--batch", "-3"], 2, "--batch -3 cannot be", "from 1 to 10,000,000"),
        (["CONFIG", "--context", "99999999999"], 2, "--context 99999999999 cannot be", "from 1 to"),
        (["CONFIG", "--shared-prefix", "9999"], 2, "--shared-prefix 9,999 is longer than the context", "fewer tokens"),
        (["CONFIG", "heads"], 2, "'heads' is not KEY=VALUE", "num_key_value_heads=8"),
        (["CONFIG", "num_key_value_heads=7"], 2, "key/value heads: expected a divisor of 64 heads, found 7", "change"),
        (["CONFIG", "-o", "x.pdf"], 2, "cannot write .pdf", "FILE.json"),
    ],
)
def test_mistakes(config: Path, arguments: list[str], code: int, cause: str, remedy: str) -> None:
    ended = CliRunner().invoke(app, ["size", *(str(config) if word == "CONFIG" else word for word in arguments)])
    assert (ended.exit_code, ended.stdout) == (code, "")
    told = ended.stderr.splitlines()
    assert cause in told[0]
    assert remedy in told[1]
    assert len(told) == 2


def test_a_mixture_with_a_latent_cache(tmp_path: Path) -> None:
    (tmp_path / "v3.json").write_text(json.dumps(DEEPSEEK_V3))
    ended = CliRunner().invoke(app, ["size", str(tmp_path / "v3.json"), "--lang", "zh", "--memory", "1.5TB"])
    assert ended.exit_code == 0
    assert "70,272 字节" in ended.stdout
    assert "MLA" in ended.stdout
