"""The console in a browser. The pictures of docs/console.md are made here, too:
``EDDYLINE_PICTURES=docs/images pytest tests/console/test_console_in_browser.py``.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from console_scenes import (
    demo_engine,
    demo_rows,
    market_rows,
    overloaded_engine,
    rules_engine,
)
from eddyline import Engine

pytestmark = pytest.mark.browser

pytest.importorskip("selenium", reason="no Selenium: pip install 'eddyline[test]'")

from selenium.webdriver import Chrome, ChromeOptions  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.remote.webelement import WebElement  # noqa: E402

#: How long a part of the page may take, on a busy machine.
PATIENCE_S = 60
SIZE = (1280, 760)
QUERY = "CREATE QUERY slow AS\nSELECT dep_ts, dest, dep_delay_min\nFROM newark [RANGE 2 DAYS]"


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("there is no Chromium with its driver here: make setup-browser")
    options = ChromeOptions()
    options.binary_location = chromium
    for argument in ("headless=new", "disable-gpu", "hide-scrollbars", "disable-dev-shm-usage"):
        options.add_argument(f"--{argument}")
    if os.geteuid() == 0:  # its sandbox is for other users
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = Chrome(options=options, service=Service(driver))
    metrics = {"width": SIZE[0], "height": SIZE[1], "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        yield browser
    finally:
        browser.quit()


@contextmanager
def rows_coming(
    engine: Engine, rows: Iterable[Mapping[str, Any]], pause_s: float
) -> Iterator[None]:
    """Process rows in another thread, piece by piece, while the block runs."""
    ended = threading.Event()

    def feed() -> None:
        for piece in rows:
            engine.process(piece)
            if ended.wait(pause_s):
                return

    thread = threading.Thread(target=feed)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def wait(condition: Callable[[], Any]) -> Any:
    """Until it holds; its value then."""
    until = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < until, "it does not come"
        time.sleep(0.1)
    return found


def shown(browser: Chrome, css: str) -> WebElement:
    (found,) = browser.find_elements(By.CSS_SELECTOR, css)
    return found


def text_of(browser: Chrome, css: str) -> str:
    return str(
        browser.execute_script("return document.querySelector(arguments[0]).textContent", css)
    )


def go(browser: Chrome, view: str) -> None:
    browser.execute_script("location.hash = arguments[0]", f"#{view}")


def write(browser: Chrome, sql: str) -> None:
    """Type a statement in place of what is there."""
    field = shown(browser, "#sql")
    field.clear()
    field.send_keys(sql)


def picture(browser: Chrome, name: str, *, dark: bool = False) -> None:
    """A picture for the documentation, if it is wanted."""
    place = os.environ.get("EDDYLINE_PICTURES")
    scheme = "dark" if dark else "light"
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    is_dark = browser.execute_script("return matchMedia('(prefers-color-scheme: dark)').matches")
    assert is_dark == dark
    if place is not None:
        browser.save_screenshot(str(Path(place) / f"console-{name}.png"))


def test_a_query_with_a_mistake_is_mended_shows_rows_and_is_dropped(browser: Chrome) -> None:
    engine = demo_engine()
    with engine.console() as console, rows_coming(engine, demo_rows(4000), 0.02):
        browser.get(console.url)
        wait(lambda: "10 queries" in text_of(browser, "#head"))
        assert "token" not in browser.current_url
        shown(browser, "#add-link").click()
        write(browser, QUERY.replace("_min", "_mni"))
        wait(lambda: "did you mean" in text_of(browser, "#checked"))
        assert text_of(browser, "#checked").startswith("line 2, column 22: ")
        assert text_of(browser, "#checked").endswith(" " * 23 + "^")
        picture(browser, "mistake")
        write(browser, QUERY)
        wait(lambda: text_of(browser, "#checked") == "no errors")
        assert "slow" not in engine.queries, "it is only checked"
        shown(browser, "#run").click()
        wait(lambda: "slow" in engine.queries)
        wait(lambda: "changes since you look" in text_of(browser, '[data-part="changes"]'))
        wait(lambda: browser.find_elements(By.CSS_SELECTOR, '[data-part="changes"] td'))
        shown(browser, "#answer summary").click()
        wait(lambda: browser.find_elements(By.CSS_SELECTOR, '[data-part="answer"] polyline'))
        assert "StreamScan" in text_of(browser, '[data-part="explain"]')
        picture(browser, "query")
        shown(browser, '[data-drop="slow"]').click()
        browser.switch_to.alert.accept()
        wait(lambda: "slow" not in engine.queries)
        wait(lambda: "10 queries" in text_of(browser, '[data-part="queries"]'))
        errors = [e for e in browser.get_log("browser") if e["level"] == "SEVERE"]
        assert [e for e in errors if "422" not in e["message"]] == [], (
            "no script or style is refused"
        )


def test_the_demo(browser: Chrome) -> None:
    engine = demo_engine()
    for rows in demo_rows(40):
        engine.process({name: piece.slice(0, 20) for name, piece in rows.items()})
        break
    with engine.console() as console, rows_coming(engine, demo_rows(4000), 0.05):
        browser.get(console.url)
        wait(lambda: "/s" in text_of(browser, '[data-part="plan"]'))
        assert "same_place_same_time" in text_of(browser, '[data-part="plan"]')
        time.sleep(6)
        picture(browser, "demo")
        go(browser, "query/same_place_same_time")
        wait(lambda: "GatedRows" in text_of(browser, '[data-part="plan-of"]'))
        assert "busy_links" not in text_of(browser, '[data-part="plan-of"]')
        wait(lambda: "suspend" in text_of(browser, '[data-part="plan-of"]'))
        picture(browser, "path", dark=True)
        go(browser, "streams")
        wait(lambda: "laguardia" in text_of(browser, '[data-part="streams"]'))


@pytest.mark.long
def test_ten_thousand_rules_stay_usable(browser: Chrome) -> None:
    engine = rules_engine(10_000)
    with engine.console() as console, rows_coming(engine, market_rows(4000, 20, 100), 0.1):
        browser.get(console.url)
        wait(lambda: "10,000 queries" in text_of(browser, "#head"))
        wait(lambda: "5,000 queries" in text_of(browser, '[data-part="plan"]'))
        boxes = browser.find_elements(By.CSS_SELECTOR, '[data-part="plan"] .node')
        assert 6 <= len(boxes) <= 12, "a node per flow"
        time.sleep(6)
        picture(browser, "rules")
        go(browser, "queries")
        wait(lambda: "page 1 of 200, 10,000 queries" in text_of(browser, '[data-part="queries"]'))
        shown(browser, "#search").send_keys("watch_004")
        wait(lambda: "page 1 of 2, 100 queries" in text_of(browser, '[data-part="queries"]'))
        shown(browser, "#search").clear()


def test_a_job_that_sheds(browser: Chrome) -> None:
    engine = overloaded_engine()
    for rows in market_rows(40, 500, 500):
        engine.process(rows)
    with engine.console() as console, rows_coming(engine, market_rows(4000, 100, 500), 0.1):
        browser.get(console.url)
        wait(lambda: "load shedding" in text_of(browser, "#head"))
        wait(lambda: browser.find_elements(By.CSS_SELECTOR, '[data-part="plan"] .node.shed'))
        time.sleep(6)
        picture(browser, "overload")
        go(browser, "health")
        wait(lambda: "needs for all rows" in text_of(browser, '[data-part="health"]'))
        picture(browser, "health")
