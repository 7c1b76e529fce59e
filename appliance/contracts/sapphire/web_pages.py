"""A settings page that a plugin brings along: ``web/index.html`` and what lies beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from appliance.contracts import pinned
from appliance.contracts.sapphire.discover import FoundPlugin
from appliance.errors import UsageError

FIRST_FILE = "index.html"
_FOLDER = "web"
_MOST_BYTES = 2_000_000
#: Kinds of files that a page is made of.
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}


def has_page(plugin: FoundPlugin) -> bool:
    """Whether its manifest speaks of a page, and there is one. Reads the disk."""
    capabilities = plugin.manifest.raw.get("capabilities")
    wanted = capabilities.get("web") if isinstance(capabilities, Mapping) else None
    return bool(wanted) and (plugin.folder / _FOLDER / FIRST_FILE).is_file()


def page_file(plugin: FoundPlugin, name: str) -> tuple[str, bytes]:
    """Kind and bytes of a file of its page. Reads the disk. Raises ``UsageError``."""
    relative = PurePosixPath(name or FIRST_FILE)
    kind = _KINDS.get(relative.suffix.lower())
    folder = (plugin.folder / _FOLDER).resolve()
    file = Path(folder / relative)
    is_inside = ".." not in relative.parts and not relative.is_absolute() and file.resolve().is_relative_to(folder)
    if kind is None or not is_inside or not file.is_file() or file.stat().st_size > _MOST_BYTES:
        raise UsageError(f"the page of the plugin {plugin.name} has no file {name!r}")
    try:
        return kind, pinned.read(file)
    except (OSError, ImportError) as error:
        raise UsageError(f"{name!r} cannot be read: {error}") from error
