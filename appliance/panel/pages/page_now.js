// What the box does now: its face, what was heard and said, the steps of its tools, what waits for the button.

import { ask, faceTable } from "./api.js";
import { make } from "./dom.js";
import { Doing } from "./doing.js";
import { Face } from "./face.js";
import { withoutMoods } from "./markdown.js";

const STATES = { idle: "is at rest", listening: "listens", working: "works", speaking: "speaks" };
const MARKS = { green: "✓", red: "✗", grey: "–" };
const WORDS = { green: "done", red: "went wrong", grey: "nothing was done" };
const MOST_LINES = 60;

export async function open(view) {
  const [table, status, pending] = await Promise.all([faceTable(), ask("status"), ask("approval.pending")]);
  const face = new Face(table);
  const doing = new Doing(status.muted, status.state);
  const state = make("p", { class: "state", role: "status" });
  const approval = make("section", { class: "approval", role: "alert", hidden: true });
  const peek = make("p", { class: "peek", "aria-live": "polite" });
  const steps = make("ol", { class: "steps", "aria-label": "Steps of this turn" });
  const talk = make("ol", { class: "talk", "aria-label": "What was said", role: "log" });
  view.append(make("div", { class: "stage" }, face.element, make("div", {}, state, peek, approval)), steps, talk);
  face.live();

  let fading;
  const draw = () => {
    const activity = doing.activity();
    face.show(doing.mood, activity);
    state.textContent = words(activity, doing);
    clearTimeout(fading);
    if (activity === "error") fading = setTimeout(draw, 4000);
  };
  const showApproval = async () => {
    const waiting = await ask("approval.pending");
    approval.hidden = !waiting.length;
    approval.replaceChildren(...waiting.map(request));
  };
  let wasSaid = false;
  const say = (who, text) => {
    if (!text) return;
    wasSaid = true;
    talk.append(make("li", { class: who }, make("b", {}, who === "person" ? "You" : "Box"), " ", make("span", {}, text)));
    while (talk.children.length > MOST_LINES) talk.firstChild.remove();
    talk.scrollTop = talk.scrollHeight;
  };

  // A typed turn makes no sound: what was written is in its conversation.
  const readTurn = async ({ turn_id }) => {
    const [turn] = await ask("chat.show", { count: 1 });
    if (wasSaid || turn?.turn_id !== turn_id) return;
    say("person", turn.user_text);
    say("box", withoutMoods(turn.reply_text));
  };

  const hears = {
    TurnStarted: () => ((wasSaid = false), steps.replaceChildren()),
    Transcribed: ({ text }) => say("person", text),
    ReplySentenceSpoken: ({ text }) => say("box", text),
    Narrated: ({ text }) => say("box", text),
    StepStarted: (event) => steps.append(step(event)),
    StepDone: (event) => finish(steps, event),
    Peeked: ({ tool }) => (peek.textContent = tool ? `looks: ${tool.replaceAll("_", " ")}` : ""),
    ApprovalRequested: showApproval,
    ApprovalDecided: showApproval,
    TurnEnded: (event) => ((peek.textContent = ""), Promise.all([showApproval(), readTurn(event)])),
  };
  approval.hidden = !pending.length;
  approval.replaceChildren(...pending.map(request));
  draw();
  return {
    onEvent(event) {
      doing.tell(event);
      Promise.resolve(hears[event.event]?.(event)).catch(() => {});
      draw();
    },
    close() {
      clearTimeout(fading);
      face.rest();
    },
  };
}

function words(activity, doing) {
  if (activity === "asking") return "Press the button on the box to allow it; hold it to refuse.";
  if (activity === "muted") return "The microphone is off.";
  if (activity === "error") return doing.problem || "Something went wrong.";
  return `The box ${STATES[activity] ?? STATES.idle}.`;
}

function step({ call_id, tool, kind }) {
  return make(
    "li",
    { "data-call": call_id, class: "going" },
    make("span", { class: "mark", "aria-hidden": "true" }, "…"),
    make("span", { class: "tool" }, tool.replaceAll("_", " ")),
    make("span", { class: `risk ${kind}` }, kind),
    make("span", { class: "note" }, "is running"),
  );
}

function finish(steps, { call_id, mark, note }) {
  const row = [...steps.children].find((entry) => entry.dataset.call === call_id);
  if (!row) return;
  row.className = mark;
  row.querySelector(".mark").textContent = MARKS[mark] ?? "";
  row.querySelector(".note").textContent = note || WORDS[mark];
}

function request(waiting) {
  const lines = Object.entries(waiting).filter(([key, value]) => typeof value === "string" && value && key !== "id");
  return make(
    "div",
    {},
    make("p", { class: "press" }, waiting.is_asked ? "Press the button on the box." : "Waits for its turn to be asked."),
    make("dl", {}, lines.flatMap(([key, value]) => [make("dt", {}, key.replaceAll("_", " ")), make("dd", {}, value)])),
  );
}
