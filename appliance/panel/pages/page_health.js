// How the box is: the doctor, how long people waited, the sound, the trail of who did what.

import { ask } from "./api.js";
import { doing, make, time } from "./dom.js";
import { turnPlot } from "./plots.js";

const VERDICTS = { fine: "✓ fine", wrong: "✗ wrong", cannot_tell: "? cannot tell" };

export async function open(view) {
  const [status, turns, trail] = await Promise.all([ask("status"), ask("turns.last", { count: 200 }), ask("audit.list", { count: 100 })]);
  const findings = make("div", { "aria-live": "polite" });
  const sound = make("dl", { class: "facts" });
  const plot = make("div");
  const verified = make("p", { role: "status" });
  view.append(
    make("h3", {}, "Doctor"),
    make("p", {}, doing("Look quickly", () => examine(findings, true)), " ", doing("Look at everything", () => examine(findings, false)), " plays a short sound."),
    findings,
    make("h3", {}, "How long people waited"),
    plot,
    make("h3", {}, "Now"),
    sound,
    make("h3", {}, "Who did what"),
    make("p", {}, doing("Verify the trail", () => verify(verified))),
    verified,
    rows(trail),
  );
  facts(sound, status);
  plot.replaceChildren(turnPlot(turns));
  const again = setInterval(() => ask("status").then((now) => facts(sound, now), () => {}), 5000);
  return {
    onEvent: (event) =>
      event.event === "TurnEnded" && ask("turns.last", { count: 200 }).then((newer) => plot.replaceChildren(turnPlot(newer)), () => {}),
    close: () => clearInterval(again),
  };
}

async function examine(place, isQuick) {
  place.replaceChildren(make("p", { class: "waiting" }, "looking …"));
  try {
    const { findings } = await ask("doctor", { quick: isQuick });
    const order = ["wrong", "cannot_tell", "fine"];
    findings.sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict));
    place.replaceChildren(
      make(
        "ul",
        { class: "findings" },
        findings.map((one) =>
          make("li", { class: one.verdict }, make("b", {}, VERDICTS[one.verdict] ?? one.verdict), ` ${one.sentence} `, one.advice ? make("em", {}, one.advice) : null),
        ),
      ),
    );
  } catch (error) {
    place.replaceChildren();
    throw error;
  }
}

function facts(list, status) {
  const shown = { ...status, ...status.sound };
  delete shown.sound;
  list.replaceChildren(
    ...Object.entries(shown).flatMap(([key, value]) => [make("dt", {}, key), make("dd", {}, words(value))]),
  );
}

function words(value) {
  if (Array.isArray(value)) return value.map(words).join(", ") || "none";
  if (value !== null && typeof value === "object") return Object.entries(value).map(([key, entry]) => `${key} ${words(entry)}`).join(", ") || "none";
  return value === true ? "yes" : value === false ? "no" : String(value);
}

async function verify(place) {
  const problems = await ask("audit.verify");
  place.textContent = problems.length ? problems.join(" ") : "The trail is whole.";
  place.className = problems.length ? "problem" : "";
}

function rows(trail) {
  const lines = trail.toReversed();
  if (!lines.length) return make("p", {}, "Nothing was done that leaves a trace.");
  return make(
    "div",
    { class: "wide", tabindex: "0", role: "region", "aria-label": "trail" },
    make(
      "table",
      {},
      make("thead", {}, make("tr", {}, ["When", "What", "Detail"].map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, lines.map((line) => make("tr", {}, make("td", {}, time(line.at)), ...entry(line.entry)))),
    ),
  );
}

function entry(told) {
  const { tool, detail, risk, ...rest } = told;
  const more = Object.entries(rest).filter(([, value]) => value && typeof value !== "object").map(([key, value]) => `${key.replaceAll("_", " ")} ${value}`);
  return [make("td", {}, [tool, risk].filter(Boolean).join(" · ")), make("td", {}, [detail, ...more].filter(Boolean).join(", "))];
}
