// A plugin's own page, in a frame that is an origin of its own. It says what it wants with postMessage and gets an answer:
//   {id, want: "settings"}            → {id, result: {key: value}}       secrets are left out
//   {id, keep: {key: value}}          → {id, result: "kept"}
//   {id, route: {method, path, query, body}} → {id, result}              its own addresses only
//   {height: pixels}                  the frame gets as tall as it asks for
// What goes wrong is {id, problem: "a sentence"}.

import { ask, askPlugin } from "./api.js";
import { make } from "./dom.js";

const TALLEST_PIXELS = 2000;

export function pluginFrame(plugin, address) {
  const frame = make("iframe", { src: address, sandbox: "allow-scripts allow-forms", title: `Page of ${plugin}`, class: "plugin-page", referrerpolicy: "no-referrer" });
  addEventListener("message", hear);
  async function hear({ source, data }) {
    if (!frame.isConnected) return removeEventListener("message", hear);
    if (source !== frame.contentWindow || data === null || typeof data !== "object") return;
    if (Number.isFinite(data.height)) frame.style.height = `${Math.min(TALLEST_PIXELS, Math.max(60, data.height))}px`;
    if (data.id === undefined) return;
    let answer;
    try {
      answer = { id: data.id, result: await serve(plugin, data) };
    } catch (error) {
      answer = { id: data.id, problem: error.message };
    }
    // The frame has no origin that could be named.
    source.postMessage(answer, "*");
  }
  return frame;
}

async function serve(plugin, { want, keep, route }) {
  if (want === "settings") {
    const { settings } = await ask("plugin.info", { name: plugin });
    return Object.fromEntries(settings.filter((one) => !one.is_secret).map((one) => [one.key, one.value]));
  }
  if (keep) {
    await ask("plugin.set", { name: plugin, values: keep });
    return "kept";
  }
  if (route) return askPlugin(plugin, route);
  throw new Error("the page understands want, keep and route");
}
