# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages as a browser sees them."""

from html.parser import HTMLParser

from helpers.report_parts import TEMPLATES
from rtbisect.report.page import write_page

#: Elements that have no end.
_VOID = ("meta", "wbr", "line", "circle", "rect")


class Page(HTMLParser):
    """A page as a browser sees it: elements, texts by the element that they are in, tables."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.texts, self.tables = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag == "table":
            self.tables.append({"caption": "", "rows": []})
        elif tag == "tr":
            self.tables[-1]["rows"].append([])
        elif tag in ("th", "td"):
            self.tables[-1]["rows"][-1].append("")
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag in _VOID
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.texts.append((self.open[-1] if self.open else "", text))
        if "caption" in self.open:
            self.tables[-1]["caption"] += text
        elif "th" in self.open or "td" in self.open:
            self.tables[-1]["rows"][-1][-1] += text

    def all_of(self, tag):
        return [attrs for name, attrs in self.seen if name == tag]

    def text_of(self, tag):
        return [text for name, text in self.texts if name == tag]

    def table(self, *heads):
        """Rows of the tables that have these column heads."""
        return [
            row
            for table in self.tables
            if table["rows"] and set(heads) <= set(table["rows"][0])
            for row in table["rows"][1:]
        ]

    def fields(self):
        return {row[0]: row[1] for table in self.tables for row in table["rows"] if len(row) == 2}


def page(report, tmp_path, boots=()):
    """The text of a page, and what is in it."""
    text = write_page(report, boots, tmp_path, TEMPLATES).read_text("utf-8")
    return text, Page(text)
