"""The tutorials of the service run from their first line to their last."""

import re
import socket
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python no-run\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", ["tutorial-decisions.md", "tutorial-sensors.md", "service.md"])
def test_the_code_of_the_page_runs(page, running, world, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = str(listening.getsockname()[1])
    blocks = BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))
    assert blocks
    names = {}
    for block in blocks:
        # small networks say as much about a page as the defaults
        code = block.replace("http://127.0.0.1:8080", running.url).replace("8000", port)
        code = code.replace("range(600)", "range(60)").replace("time.sleep(0.05)", "pass")
        code = code.replace('"regressor"', f'"regressor", settings={world.small!r}')
        exec(compile(code, page, "exec"), names)
        for name in [model["name"] for model in running.client.models()]:
            running.learn_all(name)
    names["client"].close()
    if "shop" in names:
        names["shop"].shutdown()
        names["shop"].server_close()
    assert any(model["rows"] for model in running.client.models()) or page == "service.md"
