"""Numbers that scripts write are those that reports write."""

import json
from importlib.resources import files
from typing import Any

import pytest

from whybox.report.numbers import number, percent

pytestmark = pytest.mark.browser

VALUES = (0.0, 2.0, -1.9591, 0.1, 0.04, 0.0455, 1e-4, 9.99e-5, -3.2e-7, 12.0, 123.4, 999.4, 999.7, 1e3, -12345.0, 1.5e6)
SHARES = (0.0, 1.0, 0.4516, 0.024, 0.0027, 0.0004, 0.001, 0.9996, 0.2)


def test_scripts_and_reports_write_a_number_alike(browser: Any) -> None:
    script = files("whybox.report.html").joinpath("assets", "numbers.js").read_text(encoding="utf-8")
    page = browser.new_page()
    asked = json.dumps({"values": VALUES, "shares": SHARES, "script": f"data:text/javascript;charset=utf-8,{script}"})
    values, shares = page.evaluate(
        f"""async () => {{
          const {{ values, shares, script }} = {asked};
          const {{ numberText, percentText }} = await import(script.replaceAll("#", "%23"));
          return [values.map(numberText), shares.map(percentText)];
        }}"""
    )
    page.close()
    assert values == [number(value) for value in VALUES]
    assert shares == [percent(share) for share in SHARES]
