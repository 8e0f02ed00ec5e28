"""The page, in a real browser."""

import shutil
import threading

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")


@pytest.fixture(scope="module")
def browser():
    """The system's Chromium."""
    program = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))),
        None,
    )
    if program is None:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def page(browser):
    """A page that notes what it says to the console, and what it asks of others."""
    context = browser.new_context(viewport={"width": 400, "height": 800}, color_scheme="dark")
    made = context.new_page()
    made.said, made.asked = [], set()
    made.on("console", lambda message: made.said.append(message.text))
    made.on("pageerror", lambda error: made.said.append(str(error)))
    made.on("request", lambda request: made.asked.add(request.url.split("/")[2]))
    yield made
    context.close()


def feed(client, world, first, count):
    for i in range(first, first + count):
        client.learn("price", world.target(i), event=client.predict("price", world.row(i))["event"])
        decision = client.decide("shop", world.row(i))
        client.reward("shop", decision["event"], float(decision["arm"] == "red"))


def number(page, tile):
    return int(page.text_content(f"#tile-{tile}").replace(",", ""))


def until(page, condition):
    """Wait for something; by asking again, since the page allows nobody to run strings in it."""
    for _ in range(1500):  # kernels may have to be compiled first
        if condition():
            return
        page.wait_for_timeout(100)
    raise AssertionError(page.inner_text("body"))


def test_figures_move_and_a_restarted_server_is_found_again(page, start, world):
    running = start()
    client = running.client
    client.create("price", **world.models["price"])
    client.create("shop", **world.models["shop"])
    feed(client, world, 0, 25)
    running.learn_all("price")
    page.goto(f"{running.url}/#price")
    page.wait_for_selector("#state[data-state=live]")
    until(page, lambda: number(page, "rows") == 25)
    assert page.locator("#charts section").count() >= 6
    assert page.evaluate("document.documentElement.scrollWidth") == 400  # nothing leaves a phone's screen
    sender = threading.Thread(target=feed, args=(client, world, 25, 15))
    sender.start()
    until(page, lambda: number(page, "rows") >= 40)
    sender.join()
    assert page.text_content("#tile-rows-per-second") != "–"

    # the keyboard: a chart can be reached, and read with arrows
    chart = page.locator("#charts svg[tabindex]").first
    chart.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert "predicted" in page.locator("#charts section").first.locator("p").text_content()
    assert "predicted" in chart.get_attribute("aria-label")

    page.select_option("#models", "shop")
    page.wait_for_selector("#values tr")
    assert "always red" in page.text_content("#values")
    assert page.said == []
    assert page.asked == {f"127.0.0.1:{running.port}"}
    page.select_option("#models", "price")

    running.close()
    page.wait_for_selector("#state[data-state=waiting]")
    again = start(port=running.port)
    feed(again.client, world, 40, 5)
    page.wait_for_selector("#state[data-state=live]")
    until(page, lambda: number(page, "rows") >= 45)
    # while nobody answers, the browser itself says that it cannot connect; the page says nothing
    assert [text for text in page.said if "ERR_" not in text] == []


def test_a_token_is_asked_for(page, start, world, tmp_path):
    from ggln.service import Client
    from ggln.service.auth import read_tokens

    (tmp_path / "tokens").write_text("admin " + "a" * 20)
    running = start(tokens=read_tokens(tmp_path / "tokens"))
    with Client(running.url, "a" * 20) as client:
        client.create("price", **world.models["price"])
    page.goto(running.url)
    page.wait_for_selector("#access", state="visible")
    page.fill("#token", "a" * 20)
    page.keyboard.press("Enter")
    page.wait_for_selector("#state[data-state=live]", timeout=15000)
    assert number(page, "rows") == 0
    until(page, page.locator("#access").is_hidden)
