"""The browser: the Chromium on the path, or the one of ``playwright install chromium``; without one, no test here runs.

``TFSVC_SCREENSHOTS=DIR`` keeps the pictures, to be looked at.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def browser():
    # No longer than its module: it keeps an event loop running, beside which other tests could start none.
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with playwright.sync_playwright() as driver:
        try:
            made = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"no browser: install chromium, or run `playwright install chromium` ({str(error)[:80]})")
        yield made
        made.close()


@pytest.fixture(scope="session")
def picture():
    """Takes a picture of a page, and keeps it under a name where that is asked for."""

    def take(shown, name, **more):
        folder = os.environ.get("TFSVC_SCREENSHOTS")
        shot = shown.screenshot(**more)
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            Path(folder, f"{name}.png").write_bytes(shot)
        return shot

    return take
