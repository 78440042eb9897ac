"""`--test-out`: the test of a finding as a file, by its suffix."""

from pathlib import Path

import pytest

from tests.cli.conftest import Whybox
from tests.report import fixtures
from whybox.cli.why import check_test, save_test
from whybox.errors import UsageError

CASE = "id: x\ntext: Hello\nanswer: {right: a, wrong: b, kind: text}\n"


def test_the_suffix_decides(tmp_path: Path) -> None:
    document = fixtures.why(regression_suite="suite: refund\n")
    save_test(document, tmp_path / "deep" / "refund.yaml")
    assert (tmp_path / "deep" / "refund.yaml").read_text("utf-8") == "suite: refund\n"
    save_test(document, tmp_path / "test_refund.py")
    assert (tmp_path / "test_refund.py").read_text("utf-8") == document.regression_test


@pytest.mark.parametrize("name", ["refund.txt", "refund", "refund.json"])
def test_another_suffix_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"expected \.yaml for a suite, or \.py for pytest"):
        check_test(Path(name))
    check_test(None)


def test_it_is_refused_before_a_model_is_opened(whybox: Whybox, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(CASE, "utf-8")
    ended = whybox("why", str(tmp_path / "x.yaml"), "-m", "tiny", "--test-out", str(tmp_path / "out.txt"))
    assert ended.code == 2
    assert "--test-out" in ended.err
    assert not (tmp_path / "x.html").exists()
