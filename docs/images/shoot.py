"""The README's picture, the head of a report as a browser shows it: python docs/images/shoot.py refund.html"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).with_name("refund.png")


def shoot(report: Path, picture: Path = PICTURE) -> None:
    """The first 1100 × 1480 pixels of the page, in the light theme."""
    with sync_playwright() as browsers:
        chromium = browsers.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1100, "height": 1480}, color_scheme="light")
        page.goto(report.resolve().as_uri())
        page.screenshot(path=picture)
        chromium.close()


if __name__ == "__main__":
    shoot(*map(Path, sys.argv[1:]))
