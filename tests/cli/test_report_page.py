"""The page of `ggln report`, in a real browser: it shows all that it has, and asks nobody for more."""

import shutil

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
WIDTHS = [400, 1000, 1600]
SIZES = "all => all.map(one => [one.complete, one.naturalWidth, one.width])"


@pytest.fixture(scope="module")
def browser():
    """The system's Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next((path for name in names if (path := shutil.which(name))), None)
    if program is None:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=["--no-sandbox"], timeout=240_000)
        yield started
        started.close()


@pytest.fixture
def report(ggln, sales, quick, tmp_path):
    """A page about two targets, with names and cells that are no HTML."""
    text = (tmp_path / sales()).read_text().replace("Rome", "<img src=http://127.0.0.1:9/x>")
    (tmp_path / "sales.csv").write_text(text.replace("area", "area <b>[m²]</b>", 1))
    assert ggln("fit", "sales.csv", "--target", "price,age", *quick)[0] == 0
    assert ggln("report", "model.ggln", "sales.csv")[0] == 0
    return (tmp_path / "report.html").as_uri()


def test_a_browser_shows_the_report_and_asks_nobody(browser, report):
    said, asked = [], []
    context = browser.new_context(viewport={"width": 1000, "height": 800})
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        pictures = page.eval_on_selector_all("img", SIZES)
        assert len(pictures) == 4  # and none from a cell
        assert all(loaded and natural > 100 and 100 < shown <= width for loaded, natural, shown in pictures)
        assert page.evaluate("document.documentElement.scrollWidth") == width  # wide tables scroll alone
    assert "<img src=http://127.0.0.1:9/x>" in page.inner_text("body")
    assert page.locator("h2").count() == 1 + 3 * 2
    context.close()
    assert said == []
    assert [url for url in asked if not url.startswith("data:")] == [report]
