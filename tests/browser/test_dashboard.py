"""The dashboard in a real browser: what it says, that it lives, and that no name which users choose becomes code."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

import tfsvc as tf
from tests.browser.clusters import HOSTILE, cluster, course
from tfsvc.data.experimental import service
from tfsvc.protocol.messages.chronicle import Recent
from tfsvc_transports.dashboard.page import saved

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


@pytest.fixture(params=["light", "dark"])
def scheme(request):
    return request.param


@pytest.fixture
def complaints():
    found = []
    yield found
    assert not found


@pytest.fixture
def open_page(browser, complaints):
    """Opens a page; whatever the browser complains of fails the test."""
    made = []

    def open_page(url, scheme="light", offline=False, width=1400):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=offline)
        made.append(context)
        shown = context.new_page()
        shown.on("console", lambda message: complaints.append(message.text))
        shown.on("pageerror", lambda error: complaints.append(str(error)))
        shown.on("dialog", lambda dialog: complaints.append(f"a dialog says {dialog.message}"))
        shown.goto(url)
        shown.locator("#glance .card").first.wait_for()
        return shown

    yield open_page
    for context in made:
        context.close()


@pytest.fixture
def show(open_page, tmp_path):
    """Opens a report, without any network."""

    def show(description, chronicle, note="", **more):
        page = Path(tmp_path, "run.html")
        page.write_text(saved("localhost:5050", description, chronicle, note))
        return open_page(page.as_uri(), offline=True, **more)

    return show


def rows(shown, table):
    return [row.inner_text().split("\t") for row in shown.locator(f"#{table} tbody tr").all()]


def test_a_report_shows_the_cluster(show, picture, scheme):
    shown = show(cluster(), course(), note="the run of Monday", scheme=scheme)
    assert shown.title() == "tfsvc: the run of Monday"
    assert shown.inner_text("#title") == "the run of Monday"
    assert "localhost:5050" in shown.inner_text("#facts")
    assert "saved" in shown.inner_text("#pulse")
    assert "worker-bound" in shown.inner_text("#verdict")
    assert "5 workers would do, and there are 2" in shown.inner_text("#verdict")
    assert [row[0] for row in rows(shown, "readers")] == ["3001", "3000"], "who waits most comes first"
    assert "62 %" in rows(shown, "readers")[0][3]
    assert rows(shown, "workers")[0][0] == "w2:1", "trouble comes first"
    assert shown.locator("#tiles div.silent").count() == 1
    assert "DYNAMIC, independent, exactly once" in shown.inner_text("#jobs")
    assert rows(shown, "lanes")[0][3] == "2", "lanes that have moved come first"
    assert shown.locator("#charts svg path.line").count() == 3
    assert shown.locator("#charts svg line.mark").count() >= 1, "when a worker was missed"
    picture(shown, f"dashboard-{scheme}", full_page=True)


def test_what_happened_is_told_the_newest_first_and_sorted_by_kind(show):
    shown = show(cluster(), course())
    told = [line.inner_text() for line in shown.locator("#happenings .happening span").all()]
    assert told[0] == "pass 0 over job train was read to its end: 3,000 elements taken, nothing lost"
    assert told[-1] == "worker w1:1 is here"
    for kind in ("worker", "reader", "pass", "warning", "note", "lost", "moved", "again"):
        shown.uncheck(f"[data-kind={kind}]")
    assert shown.locator("#happenings .happening").count() == 1
    shown.uncheck("[data-kind=end]")
    assert "Nothing yet" in shown.inner_text("#happenings")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"stopping": True}, "the service ends"),
        ({"readers": (), "census": replace(cluster().census, readers=0)}, "nobody reads"),
        ({"workers": ()}, "no worker"),
    ],
)
def test_verdicts(show, change, says):
    assert says in show(replace(cluster(), **change), course()).inner_text("#verdict")


def test_readers_that_do_not_wait_are_the_bottleneck_themselves(show):
    quick = tuple(replace(recent, waited_ns=recent.over_ns // 50) for recent in course().recent)
    shown = show(cluster(), replace(course(), recent=quick))
    assert "reader-bound: the workers keep up" in shown.inner_text("#verdict")
    at_end = replace(cluster(), readers=tuple(replace(reader, at_end=True) for reader in cluster().readers))
    assert "2 readers had everything" in show(at_end, course()).inner_text("#verdict")
    unheard = replace(course(), recent=())
    assert "nothing measured yet" in show(cluster(), unheard).inner_text("#verdict")


def test_names_stay_names(show, picture):
    shown = show(cluster(HOSTILE), course(HOSTILE), note=HOSTILE)
    assert shown.evaluate("window.hit") is None
    assert shown.locator("#happenings img, #jobs img, #workers img, h1 img, #happenings script").count() == 0
    for where in ("#title", "#jobs", "#workers", "#readers", "#datasets", "#snapshots", "#happenings", "#verdict"):
        assert "<img src=x" in shown.inner_text(where), where
    for table in ("workers", "jobs"):
        assert shown.locator(f"#{table} tbody tr").count() >= 1
    picture(shown, "dashboard-hostile", full_page=True)


def test_even_code_in_the_page_would_not_run(show, complaints):
    shown = show(cluster(), course())
    shown.evaluate(
        """() => {
          const made = document.createElement("script");
          made.textContent = "window.hit = 1";
          document.body.append(made);
          document.getElementById("facts").innerHTML = "<img src='data:,' onerror='window.hit = 2'>";
        }"""
    )
    shown.wait_for_timeout(200)
    assert shown.evaluate("window.hit") is None
    refused = [text for text in complaints if "Content Security Policy" in text or "violates" in text]
    assert refused
    complaints.clear()


def test_a_thousand_workers_are_read_at_a_glance(show, picture):
    shown = show(cluster(workers=1000), course())
    assert shown.locator("#tiles div").count() == 1000
    assert shown.locator("#tiles div.silent").count() == 1
    assert shown.locator("#workers tbody tr").count() == 60
    assert "60 of 1,000" in shown.inner_text("#workers .foot")
    shown.fill("#workers input", "w777:")
    assert [row[0] for row in rows(shown, "workers")] == ["w777:1"]
    shown.fill("#workers input", "")
    shown.click("#workers button")
    assert shown.locator("#workers tbody tr").count() == 1000
    spent = shown.evaluate("() => { const began = performance.now(); show(); return performance.now() - began; }")
    assert spent < 1500, "milliseconds to draw it all anew, on a machine that may be busy"
    picture(shown, "dashboard-thousand")


def test_it_fits_a_small_screen(show, picture):
    shown = show(cluster(), course(), width=420)
    assert shown.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    picture(shown, "dashboard-small", full_page=True)


def test_it_lives_and_says_when_its_dispatcher_does_not(open_page, complaints, picture):
    config = service.DispatcherConfig(http_port=0, own_process=False)
    dispatcher = service.DispatchServer(config)
    worker = service.WorkerServer(service.WorkerConfig(dispatcher.target, heartbeat_interval_ms=50))
    try:
        shown = open_page(dispatcher.http_address)
        assert dispatcher.http_address.partition("//")[2] in shown.inner_text("#facts")
        assert shown.inner_text("#pulse") == "live"
        assert "nobody reads" in shown.inner_text("#verdict")
        wish = service.distribute(
            "distributed_epoch", dispatcher.target, job_name="live", task_refresh_interval_hint_ms=50
        )
        iterator = iter(tf.data.Dataset.range(10**9).apply(wish))
        for _ in range(5000):
            next(iterator)
        shown.locator("#readers", has_text="job live").wait_for()
        shown.locator("#happenings", has_text="pass 0 over job live begins").wait_for()
        looks = shown.evaluate("window.tfsvcDashboard.happenings")
        shown.wait_for_timeout(4500)
        assert shown.evaluate("window.tfsvcDashboard.happenings") == looks, "nothing is told twice"
        picture(shown, "dashboard-live", full_page=True)
        del iterator
    finally:
        worker.stop()
        dispatcher.stop()
    shown.locator("#pulse", has_text="no answer for").wait_for()
    assert all("ERR_CONNECTION_REFUSED" in text for text in complaints), complaints
    complaints.clear()


def test_a_page_of_another_site_cannot_read_it(browser):
    """A browser that is shown another page asks, and is told nothing."""
    with service.DispatchServer(service.DispatcherConfig(http_port=0, own_process=False)) as dispatcher:
        context = browser.new_context()
        shown = context.new_page()
        shown.route(
            "http://elsewhere.example/", lambda route: route.fulfill(body="<p>mine</p>", content_type="text/html")
        )
        shown.goto("http://elsewhere.example/")
        found = shown.evaluate(
            """async (address) => {
              const found = [];
              for (const mode of ["cors", "no-cors"]) {
                try {
                  const answer = await fetch(`${address}/api/description`, {mode});
                  found.push(await answer.text());
                } catch (error) { found.push("refused"); }
              }
              return found;
            }""",
            dispatcher.http_address,
        )
        context.close()
    assert set(found) <= {"refused", ""}


def test_what_utf8_cannot_express_is_shown(show):
    shown = show(cluster("half \ud83d"), course("half \ud83d"), note="half \ud83d")
    assert "half" in shown.inner_text("#title")
    assert "half" in shown.inner_text("#jobs")


def test_a_report_is_data_that_others_can_read(tmp_path):
    text = saved("localhost:5050", cluster(HOSTILE), course(HOSTILE))
    begin = text.index('id="data">') + len('id="data">')
    told = json.loads(text[begin : text.index("</script>", begin)])
    assert told["description"]["jobs"][0]["name"] == HOSTILE
    assert time.time() - told["at"] / 1000 < 60
    assert Recent(**told["chronicle"]["recent"][0]).reader_id == 3000
