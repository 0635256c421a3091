from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_durable.env_file import parse


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=1", "1"),
        ("export A=1", "1"),
        ("  A = 1  ", "1"),
        ("A=", ""),
        ("A=1 # a remark", "1"),
        ("A=1#not a remark", "1#not a remark"),
        ("A='single ${HOME} # kept'", "single ${HOME} # kept"),
        ('A="double # kept"', "double # kept"),
        ('A="two\\nlines"', "two\nlines"),
        ('A="a \\"quoted\\" word"  # a remark', 'a "quoted" word'),
        ("A=it's", "it's"),
        ("A=postgresql://u:p@h/d?x=1", "postgresql://u:p@h/d?x=1"),
        ("A=${HOME}/x", "/home/me/x"),
        ('A="${HOME}/x"', "/home/me/x"),
        ("A=${MISSING:-other}", "other"),
        ("A=${MISSING}", ""),
    ],
)
def test_a_line_reads_as_a_shell_would_read_it(line: str, value: str) -> None:
    assert parse(line, {"HOME": "/home/me"}) == {"A": value}


def test_blank_lines_and_remarks_are_skipped_and_later_lines_see_earlier_ones() -> None:
    assert parse("# one\n\nA=1\r\nB=${A}2\n", {}) == {"A": "1", "B": "12"}


@pytest.mark.parametrize("line", ["A", "=1", "A B=1", 'A="open', "1A=2"])
def test_a_line_that_makes_no_sense_is_named(line: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        parse(f"X=1\n{line}", {})


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp"))))
def test_what_stands_between_single_quotes_is_taken_as_it_is(value: str) -> None:
    value = value.replace("'", "")
    assert parse(f"A='{value}'", {}) == {"A": value}
