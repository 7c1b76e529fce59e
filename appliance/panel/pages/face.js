// The face, drawn from the same table as every other face of the box; the shapes are those of its pictures.

import { makeSvg } from "./dom.js";

const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const NAMES = {
  idle: "at rest",
  listening: "listening",
  working: "working",
  speaking: "speaking",
  muted: "deaf: the microphone is off",
  asking: "asking for the button",
  error: "something went wrong",
  offline: "without its model",
};

/** A face for `table` (mood → numbers) and `overlays` (activity → numbers); `show(mood, activity)` moves it there. */
export class Face {
  constructor({ moods, activities }) {
    this.moods = moods;
    this.activities = activities;
    this.pose = this.target = pose(moods.neutral, activities.idle);
    this.parts = parts();
    this.element = makeSvg(
      "svg",
      { viewBox: "0 0 100 100", role: "img", class: "face", "aria-label": "face" },
      makeSvg("rect", { x: 4, y: 8, width: 92, height: 84, rx: 18, class: "shell" }),
      ...Object.values(this.parts),
    );
    this.blinking = 1;
    this.show("neutral", "idle");
  }

  show(mood, activity) {
    const spec = this.moods[mood] ?? this.moods.neutral;
    const overlay = this.activities[activity] ?? this.activities.idle;
    this.isSpeaking = activity === "speaking";
    this.target = pose(spec, overlay);
    this.element.setAttribute("aria-label", `${mood}, ${NAMES[activity] ?? activity}`);
    this.element.dataset.mood = mood;
    this.element.dataset.activity = activity;
    this.move(STILL.matches ? 0 : 1000 * spec.enter_seconds);
    this.talk();
  }

  move(milliseconds) {
    cancelAnimationFrame(this.frame);
    const from = this.pose;
    const began = performance.now();
    const step = (now) => {
      const share = milliseconds ? Math.min(1, (now - began) / milliseconds) : 1;
      const eased = share * share * (3 - 2 * share);
      this.pose = between(from, this.target, eased);
      this.draw();
      if (share < 1) this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
  }

  /** Blinks, and a mouth that moves for as long as it speaks. */
  live() {
    if (STILL.matches) return;
    const blink = () => {
      this.blinking = 0.05;
      this.draw();
      setTimeout(() => ((this.blinking = 1), this.draw()), 120);
      this.blinks = setTimeout(blink, 1500 + 6000 * Math.random());
    };
    this.blinks = setTimeout(blink, 2000);
  }

  talk() {
    clearInterval(this.talking);
    this.open = 0;
    if (!this.isSpeaking || STILL.matches) return;
    this.talking = setInterval(() => ((this.open = 0.15 + 0.55 * Math.random()), this.draw()), 110);
  }

  rest() {
    clearTimeout(this.blinks);
    clearInterval(this.talking);
    cancelAnimationFrame(this.frame);
  }

  draw() {
    const { parts: own, pose: now } = this;
    const drop = -now.neck * 0.35;
    this.element.style.setProperty("--lit", `rgb(${now.rgb.map(Math.round).join(" ")})`);
    eye(own.leftEye, own.leftPupil, 30, now, drop, this.blinking);
    eye(own.rightEye, own.rightPupil, 70, now, drop, this.blinking);
    brow(own.leftBrow, 30, now.browLeft, drop, 1);
    brow(own.rightBrow, 70, now.browRight, drop, -1);
    mouth(own.mouth, now, Math.max(now.open, this.open ?? 0), drop);
  }
}

function parts() {
  const names = ["leftEye", "rightEye"];
  const found = Object.fromEntries(names.map((name) => [name, makeSvg("rect", { class: "lit" })]));
  for (const name of ["leftPupil", "rightPupil"]) found[name] = makeSvg("circle", { class: "pupil" });
  for (const name of ["leftBrow", "rightBrow"]) found[name] = makeSvg("line", { class: "stroke" });
  found.mouth = makeSvg("path", { class: "stroke mouth" });
  return found;
}

function pose(spec, overlay) {
  const lid = Math.min(overlay.most_lid_degrees, Math.max(overlay.least_lid_degrees, spec.lid_degrees));
  return {
    lid,
    browLeft: spec.brow_left_degrees + overlay.brow_degrees,
    browRight: spec.brow_right_degrees + overlay.brow_degrees,
    bend: spec.mouth_degrees,
    open: spec.mouth_open,
    neck: spec.neck_degrees + overlay.neck_degrees,
    gazeX: overlay.holds_gaze ? 0 : spec.gaze_x,
    gazeY: overlay.holds_gaze ? 0 : spec.gaze_y,
    rgb: overlay.rgb ?? spec.rgb,
  };
}

function between(from, to, share) {
  const mix = (a, b) => a + (b - a) * share;
  return Object.fromEntries(
    Object.keys(to).map((key) => [key, key === "rgb" ? to.rgb.map((part, i) => mix(from.rgb[i], part)) : mix(from[key], to[key])]),
  );
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value.toFixed ? value.toFixed(2) : value);
}

function eye(element, pupil, x, now, drop, blinking) {
  const half = Math.max(0.9, (now.lid / 60) * 15 * blinking);
  const [centreX, centreY] = [x + now.gazeX * 3, 46 + drop - now.gazeY * 3];
  set(element, { x: centreX - 10, y: centreY - half, width: 20, height: 2 * half, rx: Math.min(10, half) * 0.9 });
  const size = half > 4 ? Math.min(4.2, half * 0.6) : 0;
  set(pupil, { cx: centreX + now.gazeX * 4, cy: centreY - now.gazeY * Math.min(4, Math.max(0, half - size)), r: size });
}

function brow(element, x, degrees, drop, side) {
  const y = 25 + drop - Math.abs(degrees) * 0.08;
  const lean = Math.tan((degrees * 1.4 * Math.PI) / 180) * 11 * side;
  set(element, { x1: x - 11, y1: y + lean, x2: x + 11, y2: y - lean });
}

function mouth(element, now, open, drop) {
  const half = 16 * (1 - 0.5 * open * (now.bend < 5 ? 1 : 0));
  const [y, bend] = [74 + drop, (now.bend / 20) * 9];
  const [left, right, ends, middle] = [50 - half, 50 + half, y - bend / 2, y + bend * 1.5];
  let path = `M ${left} ${ends} Q 50 ${middle} ${right} ${ends}`;
  if (open > 0.05) path += ` Q 50 ${middle + 2 * open * 14} ${left} ${ends} Z`;
  element.setAttribute("d", path);
  element.classList.toggle("open", open > 0.05);
}
