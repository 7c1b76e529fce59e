// Which page is shown, and who hears what happens in the box.

import { ask, follow, takeToken } from "./api.js";
import { make } from "./dom.js";

const PLACES = [
  ["now", "Now", "./page_now.js"],
  ["chats", "Chats", "./page_chats.js"],
  ["tools", "Tools", "./page_tools.js"],
  ["house", "House", "./page_house.js"],
  ["health", "Health", "./page_health.js"],
];

const page = document.getElementById("page");
const link = document.getElementById("link");
const places = document.getElementById("places");
/** What the page that is shown wants to hear; `open` gives back {onEvent, close}, both optional. */
let shown = {};
let number = 0;

function tell(sentence) {
  link.textContent = sentence;
  link.hidden = !sentence;
}

async function show() {
  const [key, rest] = location.hash.slice(1).split("/");
  const place = PLACES.find(([name]) => name === key) ?? PLACES[0];
  const mine = ++number;
  shown.close?.();
  shown = {};
  for (const entry of places.querySelectorAll("a")) {
    if (entry.hash === `#${place[0]}`) entry.setAttribute("aria-current", "page");
    else entry.removeAttribute("aria-current");
  }
  page.replaceChildren(make("p", { class: "waiting" }, "…"));
  try {
    const { open } = await import(place[2]);
    const view = make("div", { class: `view ${place[0]}` }, make("h2", {}, place[1]));
    const opened = (await open(view, decodeURIComponent(rest ?? ""))) ?? {};
    if (mine !== number) return opened.close?.();
    shown = opened;
    page.replaceChildren(view);
    page.focus({ preventScroll: true });
  } catch (error) {
    if (mine === number) page.replaceChildren(make("p", { role: "alert", class: "problem" }, error.message));
  }
}

async function begin() {
  if (!takeToken()) {
    tell("");
    page.replaceChildren(make("p", {}, "On the box, appliance panel prints the address of this page with its key."));
    return;
  }
  places.replaceChildren(...PLACES.map(([key, name]) => make("li", {}, make("a", { href: `#${key}` }, name))));
  addEventListener("hashchange", show);
  show();
  ask("status").then((status) => status.name && (document.getElementById("name").textContent = status.name), () => {});
  const leaving = new AbortController();
  addEventListener("pagehide", () => leaving.abort());
  await follow((event) => shown.onEvent?.(event), (isUp, error) => tell(isUp ? "" : error.message), leaving.signal);
}

begin();
