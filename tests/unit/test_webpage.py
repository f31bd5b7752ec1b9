"""Pages that are one file, whatever texts users have put into them."""

from __future__ import annotations

import json

import pytest

from tfsvc.webpage import embedded, fill, text_of


def test_a_part_that_looks_like_a_place_is_left_as_it_is() -> None:
    assert fill("<@@title@@|@@data@@>", {"title": "@@data@@", "data": "@@title@@"}) == "<@@data@@|@@title@@>"


def test_a_part_without_a_place_is_an_error() -> None:
    with pytest.raises(AssertionError, match="no place for data"):
        fill("@@title@@", {"title": "", "data": ""})


@pytest.mark.parametrize("text", ["</script>", "<!--<script>", "]]>", "\ud800", "é"])
def test_no_text_ends_the_script_that_it_stands_in(text: str) -> None:
    written = embedded({"text": text})
    assert "<" not in written
    assert json.loads(written) == {"text": text}
    written.encode()


def test_files_of_a_package_stand_one_behind_the_other() -> None:
    assert text_of("tfsvc", "py.typed", "py.typed") == "\n"
