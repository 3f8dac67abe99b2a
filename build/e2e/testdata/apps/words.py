"""The language of an application: English, or with --zh Chinese."""

import sys

arguments = [a for a in sys.argv[1:] if a != "--zh"]
chinese = "--zh" in sys.argv


def words(table):
    """Makes the function that says a text in the language."""
    return (lambda text: table.get(text, text)) if chinese else (lambda text: text)
