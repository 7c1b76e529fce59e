// The times of the last turns as stacked bars: each stage in a pattern of its own as well as a colour.

import { make, makeSvg } from "./dom.js";

const STAGES = [
  ["heard", "speech_ended", "transcribed", "turning speech into text"],
  ["thought", "transcribed", "first_sound", "thinking, up to the first sound"],
  ["spoke", "first_sound", "first_reply_sound", "lines of tools, up to the answer"],
];
const [WIDTH, HEIGHT, LEFT, BOTTOM] = [640, 220, 40, 20];

/** Every spoken turn that was answered, oldest first, as {turn, parts: [[stage, seconds]…], total}. */
export function stacked(turns) {
  return turns
    .filter((turn) => turn.stages.speech_ended !== undefined && turn.stages.first_sound !== undefined)
    .map((turn) => {
      const parts = STAGES.map(([name, from, to]) => [name, Math.max(0, (turn.stages[to] ?? NaN) - (turn.stages[from] ?? NaN))]).filter(([, seconds]) => seconds >= 0);
      return { turn, parts, total: parts.reduce((sum, [, seconds]) => sum + seconds, 0) };
    })
    .reverse();
}

export function turnPlot(turns) {
  const bars = stacked(turns);
  if (!bars.length) return make("p", {}, "No question was answered aloud yet.");
  const most = Math.max(...bars.map((bar) => bar.total), 0.5);
  const sorted = bars.map((bar) => bar.total).sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  const step = (WIDTH - LEFT) / bars.length;
  const high = (seconds) => ((HEIGHT - BOTTOM) * seconds) / most;
  const summary = `${bars.length} answers: usually ${median.toFixed(1)} s, ${sorted.at(-1).toFixed(1)} s at worst`;
  const drawn = bars.flatMap(({ turn, parts, total }, index) => {
    let y = HEIGHT - BOTTOM;
    return [
      makeSvg("title", {}, `${total.toFixed(2)} s`),
      ...parts.map(([name, seconds]) =>
        makeSvg(
          "rect",
          { class: name, x: LEFT + index * step, width: Math.max(1, step - 1), height: high(seconds), y: (y -= high(seconds)) },
          makeSvg("title", {}, `${new Date(turn.started_at).toLocaleString()}: ${name} ${seconds.toFixed(2)} s of ${total.toFixed(2)} s`),
        ),
      ),
    ].slice(1);
  });
  const lines = [0, most / 2, most].flatMap((seconds) => [
    makeSvg("line", { class: "grid", x1: LEFT, x2: WIDTH, y1: HEIGHT - BOTTOM - high(seconds), y2: HEIGHT - BOTTOM - high(seconds) }),
    makeSvg("text", { x: LEFT - 4, y: HEIGHT - BOTTOM - high(seconds) + 4, class: "axis" }, `${seconds.toFixed(1)} s`),
  ]);
  return make(
    "figure",
    { class: "plot" },
    makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": summary }, ...lines, ...drawn),
    make("figcaption", {}, summary, make("ul", { class: "legend" }, STAGES.map(([name, , , words]) => make("li", { class: name }, words)))),
  );
}
