// The house: what is on the network and why the box thinks so, and whom the box asked today.

import { ask } from "./api.js";
import { doing, make } from "./dom.js";

const size = (bytes) => (bytes < 10_000 ? `${bytes} B` : bytes < 10_000_000 ? `${Math.round(bytes / 1000)} kB` : `${Math.round(bytes / 1e6)} MB`);

export async function open(view) {
  const gear = make("div", { "aria-live": "polite" }, make("p", {}, "Nobody has looked since the device began."));
  const seen = make("div");
  view.append(
    make("h3", {}, "What left the house today"),
    seen,
    make("h3", {}, "What is on the network"),
    make("p", {}, doing("Look", async () => show(gear, await ask("house.gear"))), " takes some seconds and asks only the house."),
    gear,
  );
  await showSeen(seen);
  const known = await ask("house.known");
  if (known) show(gear, known);
  return { onEvent: (event) => event.event === "TurnEnded" && showSeen(seen).catch(() => {}) };
}

async function showSeen(place) {
  const rows = await ask("net.seen");
  const away = rows.filter((row) => row.lane === "wan");
  const home = rows.filter((row) => row.lane !== "wan");
  place.replaceChildren(
    away.length ? table(away) : make("p", {}, "Nothing left the house today."),
    home.length ? make("details", {}, make("summary", {}, `${home.length} in the house`), table(home)) : "",
  );
}

function table(rows) {
  return make(
    "div",
    { class: "wide", tabindex: "0", role: "region", "aria-label": "hosts" },
    make(
      "table",
      {},
      make("thead", {}, make("tr", {}, ["Host", "Who asked", "Requests", "Sent", "Came back"].map((name) => make("th", { scope: "col" }, name)))),
      make(
        "tbody",
        {},
        rows.map((row) => make("tr", {}, [row.host, row.who, row.requests, size(row.bytes_out), size(row.bytes_in)].map((value) => make("td", {}, String(value))))),
      ),
    ),
  );
}

function show(place, found) {
  if (found.problem) return place.replaceChildren(make("p", { class: "problem" }, found.problem));
  place.replaceChildren(
    found.things.length ? make("ul", { class: "gear" }, found.things.map(thing)) : make("p", {}, "Nothing answered."),
  );
}

function thing(one) {
  return make(
    "li",
    {},
    make("b", {}, one.name || one.address),
    ` ${[one.kind, ...(one.also ?? [])].join(" + ")} `,
    make("meter", { min: 0, max: 1, value: one.confidence, "aria-label": "how sure" }, `${Math.round(100 * one.confidence)} %`),
    make("small", {}, ` ${one.address}, ${one.lane}`, one.is_new ? ", new" : ""),
    make("details", {}, make("summary", {}, "Why"), make("ul", {}, [...new Set(one.evidence.map((item) => item.says))].map((says) => make("li", {}, says)))),
  );
}
