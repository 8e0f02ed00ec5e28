"""Texts of others on a terminal."""


def plain(text: str) -> str:
    r"""Return a text that a terminal only shows: what it would obey, or cannot show, is escaped.

    >>> plain("price \x1b[31m"), plain("Größe")
    ('price \\x1b[31m', 'Größe')
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text
    )
