"""The cookbook: every recipe runs as written, and answers what DuckDB computes."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import pytest

from cookbook import PAGES, Answers, Played, Recipe, check, expectations, page_names, play, recipes
from cookbook_rows import rows_of_page

RECIPES: Final = [recipe for page in page_names() for recipe in recipes(page)[1]]


@cache
def played(page: str) -> tuple[dict[str, Played], Answers]:
    rows, tables = rows_of_page(page)
    return play(page, rows, tables), Answers(rows, tables)


@pytest.mark.parametrize("recipe", RECIPES, ids=[f"{r.page}-{r.query_name}" for r in RECIPES])
def test_recipe(recipe: Recipe) -> None:
    found, answers = played(recipe.page)
    check(recipe, found[recipe.name], expectations(recipe.page)[recipe.name], answers)


@pytest.mark.parametrize("page", page_names())
def test_each_recipe_has_an_answer(page: str) -> None:
    assert [r.name for r in recipes(page)[1]] == list(expectations(page))


def test_the_index_lists_each_recipe() -> None:
    index = (PAGES.parent / "cookbook.md").read_text(encoding="utf-8")
    listed = re.findall(r"\]\(cookbook/([a-z-]+)\.md#([a-z0-9-]+)\)", index)
    anchors = {
        (r.page, re.sub(r"[^a-z0-9 -]", "", r.name.lower()).replace(" ", "-")) for r in RECIPES
    }
    assert set(listed) == anchors
