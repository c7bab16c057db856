"""``python -m eddyline.docs`` writes all generated pages and pictures of ``docs`` anew."""

from __future__ import annotations

from pathlib import Path

from eddyline.docs.generated import DOCS, generated


def main() -> None:
    """Write the files that are not current."""
    for name, text in generated().items():
        path: Path = DOCS / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(path.relative_to(DOCS.parent))


if __name__ == "__main__":
    main()
