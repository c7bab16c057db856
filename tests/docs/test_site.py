"""The site of the documents: every page is in the navigation, links lead to headings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import matplotlib.image
import pytest

import eddyline
import eddyline.spark
from eddyline.docs.generated import DOCS, generated

ROOT = DOCS.parent
PAGES = sorted(DOCS.rglob("*.md"))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as repositories and the site make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    seen: Counter[str] = Counter()
    found = set()
    for heading in re.findall(r"^#+ (.+)$", text, flags=re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda p: p.name)
def test_links_lead_to_headings(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]*)\)", page.read_text(encoding="utf-8")):
        other = page.parent / target if target else page
        assert anchor in anchors(other), f"{target}#{anchor}"


def test_the_navigation_has_every_page() -> None:
    front = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^- \[[^\]]+\]\(([^)#:]+)\)", front, flags=re.M))
    pages = {str(p.relative_to(DOCS)) for p in DOCS.rglob("*") if p.suffix in (".md", ".rst")}
    below = {p for p in pages if re.match(r"(cookbook|decisions|sql)/|figures/.*/claims\.md$", p)}
    assert listed - {"sql/index.md"} == pages - below - {"index.md"}


def test_generated_files_are_current() -> None:
    made = generated()
    stale = [n for n, text in made.items() if (DOCS / n).read_text(encoding="utf-8") != text]
    assert not stale, "run: python -m eddyline.docs"
    pictures = {*DOCS.glob("pictures/*"), *DOCS.glob("sql/**/*.*")}
    assert {str(path.relative_to(DOCS)) for path in pictures} <= made.keys()


@pytest.mark.parametrize("module", [eddyline, eddyline.spark], ids=lambda m: m.__name__)
def test_the_reference_has_every_public_name(module: object) -> None:
    name = module.__name__.rpartition(".")[2]  # type: ignore[attr-defined]
    page = (DOCS / "api" / f"{name}.rst").read_text(encoding="utf-8")
    listed = re.findall(r"^\.\. auto\w+:: (\w+)$", page, flags=re.M)
    assert sorted(listed) == sorted(set(module.__all__) - {"__version__"})  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    done = subprocess.run(
        [*command, str(DOCS), str(place)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return place


@pytest.mark.long
def test_the_site_needs_no_other_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > len(PAGES)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.findall(
            r"<(?:link|script|img|iframe)[^>]*(?:href|src)=\"(?:https?:)?//", text
        )
    for style in site.rglob("*.css"):
        assert not re.findall(r"(?:url\(|@import )['\"]?https?:", style.read_text(encoding="utf-8"))


@pytest.mark.long
@pytest.mark.browser
@pytest.mark.parametrize(("colours", "least", "most"), [("light", 200, 255), ("dark", 0, 80)])
def test_the_front_page_follows_the_colours_of_the_system(
    colours: str, least: int, most: int, site: Path, tmp_path: Path
) -> None:
    """``EDDYLINE_PICTURES=docs/images`` keeps the pictures there."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no Chromium here: make setup-browser")
    picture = Path(os.environ.get("EDDYLINE_PICTURES", tmp_path)).resolve() / f"docs-{colours}.png"
    scheme = {"light": "1", "dark": "0"}[colours]
    subprocess.run(
        [
            *(chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *("--window-size=1280,900", f"--blink-settings=preferredColorScheme={scheme}"),
            *(f"--screenshot={picture}", f"file://{site}/index.html"),
        ],
        check=True,
        capture_output=True,
    )
    assert least <= matplotlib.image.imread(picture).mean() * 255 <= most
