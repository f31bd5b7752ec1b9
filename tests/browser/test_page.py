"""The page in a real browser: it draws, answers the hand, and complains of nothing."""

from __future__ import annotations

import pytest

from tests.unit.sim.test_page import run
from tfsvc_sim import page
from tfsvc_sim.page import recording as r

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


@pytest.fixture
def show(browser, tmp_path):
    """Opens the page of a recording; whatever the browser complains of fails the test."""
    complaints = []
    context = browser.new_context(viewport={"width": 1400, "height": 860}, offline=True)

    def show(recording):
        shown = context.new_page()
        shown.on("console", lambda message: complaints.append(message.text))
        shown.on("pageerror", lambda error: complaints.append(str(error)))
        shown.on("request", lambda request: complaints.append(request.url) if "file:" not in request.url else None)
        shown.goto(page.write(recording, tmp_path / "run.html").as_uri())
        shown.wait_for_function("window.tfsvcPage")
        return shown

    yield show
    context.close()
    assert not complaints


@pytest.fixture(scope="module")
def recording():
    return run()[1].recording("A worker crashes", {"seed": "7"}, ["nothing is wrong"])


def drawn(shown):
    shown.wait_for_timeout(60)
    return shown.evaluate("window.tfsvcPage")


def colours(shown):
    """How many colours the diagram has."""
    return shown.evaluate(
        """() => {
          const canvas = document.getElementById("diagram");
          const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const found = new Set();
          for (let i = 0; i < data.length; i += 4) found.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
          return found.size;
        }"""
    )


def test_the_diagram_is_drawn(show, picture, recording):
    shown = show(recording)
    assert shown.title() == "A worker crashes"
    now = drawn(shown)
    assert now["drawn"]["events"] > 100
    assert now["drawn"]["messages"] > 100
    assert now["drawn"]["left"] == 0
    assert colours(shown) > 50
    assert "nothing is wrong" in shown.inner_text("#verdict")
    assert picture(shown, "whole")


def test_it_zooms_pans_and_comes_back(show, picture, recording):
    shown = show(recording)
    before = drawn(shown)
    box = shown.locator("#diagram").bounding_box()
    shown.mouse.move(box["x"] + 500, box["y"] + 100)
    for _ in range(4):
        shown.mouse.wheel(0, -200)
        shown.wait_for_timeout(30)
    near = drawn(shown)
    assert near["to"] - near["from"] < (before["to"] - before["from"]) / 3
    assert near["drawn"]["messages"] < before["drawn"]["messages"]
    shown.mouse.down()
    shown.mouse.move(box["x"] + 400, box["y"] + 100, steps=4)
    shown.mouse.up()
    panned = drawn(shown)
    assert panned["from"] > near["from"]
    assert panned["to"] - panned["from"] == pytest.approx(near["to"] - near["from"])
    picture(shown, "near")
    shown.keyboard.press("0")
    assert drawn(shown)["drawn"] == before["drawn"]


def test_a_moment_tells_what_each_node_believed(show, recording):
    shown = show(recording)
    shown.locator("#overview").click(position={"x": 2, "y": 20})
    early = shown.inner_text("#moment")
    dead = next(life for life in recording.lives if life.how == "crashes")
    at = (dead.end + 20_000_000) / recording.end
    shown.locator("#overview").click(position={"x": shown.locator("#overview").bounding_box()["width"] * at, "y": 20})
    late = shown.inner_text("#moment")
    assert early != late
    assert "crashes" in late
    assert "paused" in late
    assert "open lanes" in late


def test_steps_tell_what_led_to_an_event(show, picture, recording):
    shown = show(recording)
    for _ in range(12):
        shown.keyboard.press("ArrowRight")
    chosen = drawn(shown)["cursor"]
    detail = shown.inner_text("#detail")
    assert "event " in detail
    shown.keyboard.press("ArrowLeft")
    assert drawn(shown)["cursor"] <= chosen
    assert shown.inner_text("#detail") != detail
    picture(shown, "event")


def test_the_ledger_says_who_took_what(show, picture, recording):
    shown = show(recording)
    shown.click("[data-tab=ledger]")
    assert "of 60 elements" in shown.inner_text("#ledger")
    value = recording.takings[10].text
    shown.fill("#ledger input", value)
    shown.wait_for_timeout(60)
    assert shown.locator("#ledger .list .row").count() == 1
    assert f"= {value}" in shown.inner_text("#ledger .list")
    shown.fill("#ledger input", "")
    picture(shown, "ledger")


def test_events_are_found_by_their_words(show, recording):
    shown = show(recording)
    shown.click("[data-tab=events]")
    shown.fill("#events input[type=search]", "crashes")
    shown.wait_for_timeout(60)
    assert "worker1" in shown.inner_text("#events .list")
    shown.locator("#events .list .row").last.click()
    assert "crashes" in shown.inner_text("#detail")
    shown.click("[data-tab=run]")
    assert "lost messages" in shown.inner_text("#run")


def test_a_hundred_thousand_events_do_not_hang_it(show, picture):
    nodes = tuple(r.NodeInfo(f"worker{i}", "worker") for i in range(30))
    events = tuple(
        r.Event(i * 10_000, i % 30, r.Kind(i % 8), f"event {i % 999}", max(0, i - 7)) for i in range(100_000)
    )
    lost = [r.Fate(i % 999 == 0) for i in range(99_000)]
    messages = tuple(
        r.Message(i * 10_000, i * 10_000 + 70_000, i % 30, (i + 7) % 30, "GetFrames", True, fate, False, i + 1, i + 8)
        for i, fate in enumerate(lost)
    )
    lives = tuple(r.Life(i, 1, 0, None, "") for i in range(30))
    shown = show(r.Recording("Large", 1_000_000_000, nodes, lives, (), events, messages, (), ()))
    now = drawn(shown)
    assert now["drawn"]["events"] < 30_000
    assert 0 < now["drawn"]["messages"] < 5_000
    assert now["drawn"]["left"] > 90_000
    assert "more messages here" in shown.inner_text("#note")
    spent = shown.evaluate(
        """async () => {
          const frame = () => new Promise(requestAnimationFrame);
          const began = performance.now();
          for (let i = 0; i < 10; i++) { document.querySelector("[data-do=in]").click(); await frame(); await frame(); }
          return (performance.now() - began) / 10;
        }"""
    )
    picture(shown, "large")
    assert spent < 2_000, "milliseconds a frame, on a machine that may be busy"
    assert drawn(shown)["drawn"]["left"] == 0, "near enough, every message is there"
