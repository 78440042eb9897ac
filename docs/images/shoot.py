"""The README's picture: the head of a report of `whybox why`, as a browser shows it.

python docs/images/shoot.py refund.html [docs/images/refund.png] [width height]
"""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent


def shoot(report: Path, picture: Path, width: int = 1100, height: int = 1480) -> None:
    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
        page.goto(report.resolve().as_uri())
        page.wait_for_timeout(300)
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    report, picture, *size = (*sys.argv[1:2], *(sys.argv[2:] or [str(HERE / "refund.png")]))
    shoot(Path(report), Path(picture), *map(int, size))
