"""A page of HTML that stands alone: its style and its pictures are inside, and nothing in it runs."""

import base64
from collections.abc import Sequence
from html import escape

from ggln.terminal import plain

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff;
  margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h1, h2, p { overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin-bottom: .25rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .25rem; border-bottom: 1px solid #ddd; }
p { margin: .25rem 0 .75rem; color: #555; }
img { max-width: 100%; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; border-bottom: 1px solid #eee; text-align: right; white-space: nowrap; }
th { border-bottom: 2px solid #bbb; font-weight: 600; white-space: normal; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
"""
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""What a browser may load for it: nothing from anywhere."""


def _text(text: str) -> str:
    return escape(plain(text))


def heading(title: str, note: str) -> str:
    """Return what stands above all."""
    return f"<h1>{_text(title)}</h1>\n<p>{_text(note)}</p>"


def section(title: str, note: str, content: str) -> str:
    """Return a part of the page; content: HTML."""
    return f"<section>\n<h2>{_text(title)}</h2>\n<p>{_text(note)}</p>\n{content}\n</section>"


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table of texts."""
    names = "".join(f"<th>{_text(name)}</th>" for name in head)
    rows = ["".join(f"<td>{_text(cell)}</td>" for cell in line) for line in lines]
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="wide"><table>\n<tr>{names}</tr>\n{body}\n</table></div>'


def picture(png: bytes, name: str) -> str:
    """Return a picture; name: what it shows, for those who cannot see it."""
    return f'<img alt="{_text(name)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'


def whole(title: str, parts: Sequence[str]) -> str:
    """Return the page."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )
