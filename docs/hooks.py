"""What MkDocs does beside building pages: the repository's own pages take part, and nothing is fetched from elsewhere.

README, CONTRIBUTING and CHANGELOG stay where people look for them in a repository. Links between them and ``docs`` are
made to fit the site; what is linked to outside of both, such as code, stands there as text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
OURS = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
LINK = re.compile(r"\[([^\]]+)\]\((?!\w+:)([^)#]+)(#[^)]*)?\)")
FETCHED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"?(?:https?:)?//[^>]*>")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the repository's own pages."""
    for name, page in OURS.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lets links between the repository and ``docs`` fit the site."""
    path = page.file.src_uri
    source = next((name for name, own in OURS.items() if own == path), f"docs/{path}")

    def fit(link: re.Match[str]) -> str:
        text, target, anchor = link[1], link[2], link[3] or ""
        found = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        inside = OURS.get(found, found.removeprefix("docs/") if found.startswith("docs/") else None)
        if inside is None:
            return text if (ROOT / found).exists() else link[0]
        return f"[{text}]({posixpath.relpath(inside, posixpath.dirname(path) or '.')}{anchor})"

    return LINK.sub(fit, markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Refuses a page that a browser could not show without a network."""
    if found := FETCHED.search(output):
        raise PluginError(f"{page.file.src_uri} would fetch something from elsewhere: {found[0]}")
    return output
