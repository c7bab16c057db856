"""All generated files of the documents."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from eddyline.docs.decisions_page import decisions_page
from eddyline.docs.functions.page import functions_page
from eddyline.docs.pictures.pages import pictures
from eddyline.docs.sql.pages import pages

#: The folder of documents of a checkout.
DOCS: Final = Path(__file__).parents[3] / "docs"


def generated() -> dict[str, str]:
    """The texts of the files, by their paths below ``docs``."""
    return {
        "decisions.md": decisions_page(DOCS),
        "sql-functions.md": functions_page(),
        **pages(),
        **pictures(),
    }
