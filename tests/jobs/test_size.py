"""The document of sizes: every figure where its path says, its formula in numbers, nothing null without a reason."""

import json
from pathlib import Path

import pytest

from tests.models import model_path
from tests.size.published import DEEPSEEK_V3, LLAMA_2_70B
from whybox.errors import UsageError
from whybox.jobs.size import SizeQuestion, contexts, size
from whybox.report.document import SizeDocument, to_json
from whybox.size.load import Machine
from whybox.size.source import Wish
from whybox.size.units import dtype_named

WHOLE = Machine(80 * 10**9, 3_350 * 10**9, 989 * 10**12)


def asked(values: dict[str, object], folder: Path, machine: Machine = WHOLE, **more: object) -> SizeDocument:
    (folder / "config.json").write_text(json.dumps(values))
    return size(SizeQuestion(Wish(str(folder / "config.json")), machine, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [LLAMA_2_70B, DEEPSEEK_V3], ids=["llama", "deepseek"])
def test_every_figure_stands_where_its_path_says(values: dict[str, object], tmp_path: Path) -> None:
    document = asked(values, tmp_path, Machine(2 * 10**12, 10**13, 10**15), batch=4, shared=100)
    written = json.loads(to_json(document))
    assert len(document.formulas) == len({row.path for row in document.formulas}) > 35
    for row in document.formulas:
        found = written
        for name in row.path.split("."):
            found = found[name]
        assert found == row.value, row.path
        assert row.formula
        assert row.numbers


def test_the_parts_that_others_rely_on(tmp_path: Path) -> None:
    document = json.loads(to_json(asked(LLAMA_2_70B, tmp_path)))
    assert document["schema"] == {"name": "whybox.size", "version": 1}
    assert document["kv_cache"]["bytes_per_token"] == 327_680
    assert document["kv_cache"]["bytes"] == 1_342_177_280
    assert document["parameters"]["total"] == document["parameters"]["active"] == 68_976_648_192
    assert document["flops"]["decode"] == 137_426_370_560 + 10_737_418_240
    assert document["fit"]["batch"] == 0
    assert document["model"]["engine"] == "not run"
    assert document["load"]["weights_type"] == "fp16"


def test_what_was_not_asked_has_its_reason(tmp_path: Path) -> None:
    document = asked(LLAMA_2_70B, tmp_path, Machine())
    assert (document.roofline, document.roofline_reason) == (None, "give --bandwidth and --flops")
    assert (document.fit, document.fit_reason) == (None, "give --memory")
    assert {point.batch_reason for point in document.curve} == {"give --memory"}
    assert document.weights.types_reason == "no weights were looked at"


def test_a_type_of_weights_that_is_thought_of(tmp_path: Path) -> None:
    document = asked(LLAMA_2_70B, tmp_path, dtype=dtype_named("q4_0"), context=4096)
    assert document.weights.bytes == -(-68_976_648_192 * 18 // 32)
    assert document.fit is not None
    assert document.fit.batch == (80 * 10**9 - document.weights.bytes) // 1_342_177_280 == 30
    assert document.fit.context is not None
    assert document.fit.context == (80 * 10**9 - document.weights.bytes) // (16 * 327_680) * 16


def test_the_curve_ends_at_the_longest_that_is_asked_or_trained(tmp_path: Path) -> None:
    document = asked(LLAMA_2_70B, tmp_path, context=10_000)
    assert [point.context for point in document.curve] == [256, 512, 1024, 2048, 4096, 8192, 10_000]
    assert any("beyond the 4,096" in note for note in document.notes)
    at = {point.context: point for point in document.curve}
    assert at[4096].kv_bytes == 1_342_177_280
    assert at[10_000].decode_flops == document.flops.decode
    assert contexts(3, None) == (3,)
    assert len(contexts(10**9, 4096)) <= 18


@pytest.mark.model
def test_a_file_is_as_it_is_stored() -> None:
    document = size(SizeQuestion(Wish(str(model_path("smollm2")))))
    assert (document.load.context, document.weights.as_stored) == (8192, True)
    assert sum(row.bytes for row in document.weights.types) == document.weights.bytes == 96_576_768
    assert document.kv_cache.bytes == 188_743_680
    rows = {row.name: row for row in document.matrices}
    assert (rows["query"].shape, rows["key"].shape, rows["query"].layers) == ((576, 576), (192, 576), 30)
    attention = sum(rows[name].parameters for name in ("query", "key", "value", "out"))
    assert attention == 30 * 884_736


def test_a_beginning_longer_than_the_context_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--shared-prefix 5,000 is longer than the context of 4,096"):
        asked(LLAMA_2_70B, tmp_path, shared=5000)


def test_a_whole_context_that_is_shared(tmp_path: Path) -> None:
    document = asked(LLAMA_2_70B, tmp_path, Machine(10**12), shared=4096)
    assert document.fit is not None
    assert document.fit.batch is None
    assert document.fit.batch_reason == "the requests share the whole context: another one needs no more"
