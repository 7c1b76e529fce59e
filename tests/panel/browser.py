"""A real browser without a window, as the owner has one at the other end of the tunnel."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

#: Debian's Chromium, with nothing of its own on the network; as root it has no sandbox.
_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESKTOP, PHONE = (1200, 900), (390, 844)


@dataclass
class Window:
    """One page of the browser, and everything that it complained about."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    #: Every address that it asked for.
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def go(self, place: str) -> None:
        """To one of the pages, such as "chats"."""
        self.page.click(f"nav a[href='#{place}']")
        self.page.wait_for_selector(f".view.{place}")

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("there is no browser; as root: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_OPTIONS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def window(browser: Browser, address: str, size: tuple[int, int] = DESKTOP, **options: object) -> Iterator[Window]:
    """A page at the address that ``appliance panel`` prints, once it shows something."""
    viewport = {"width": size[0], "height": size[1]}
    context: BrowserContext = browser.new_context(viewport=viewport, reduced_motion="reduce", **options)  # type: ignore[arg-type]
    try:
        opened = Window(context.new_page())
        opened.page.goto(address)
        opened.page.wait_for_selector(".view")
        yield opened
    finally:
        context.close()
