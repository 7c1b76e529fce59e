// The one way from the page to the box. The token stands behind # in the address that `appliance panel` prints: it is
// taken from there once, kept for this tab, and sent in a header, so that it is in no address and no log.

const KEPT = "panel-token";

export function takeToken() {
  const given = location.hash.slice(1);
  if (/^[A-Za-z0-9_-]{20,}$/.test(given)) {
    sessionStorage.setItem(KEPT, given);
    history.replaceState(null, "", "/#now");
  }
  return sessionStorage.getItem(KEPT) ?? "";
}

export class Problem extends Error {}

function headers() {
  return { "X-Panel-Token": sessionStorage.getItem(KEPT) ?? "" };
}

async function checked(answer) {
  if (answer.ok) return answer;
  const text = await answer.text();
  let sentence = text;
  try {
    sentence = JSON.parse(text).problem;
  } catch {
    // A refusal is plain text.
  }
  throw Object.assign(new Problem(sentence || `the box answered ${answer.status}`), { status: answer.status });
}

async function send(address, options) {
  try {
    return await checked(await fetch(address, options));
  } catch (error) {
    if (error instanceof Problem || error.name === "AbortError") throw error;
    throw new Problem("the box does not answer; is the tunnel (ssh -L) still open?");
  }
}

/** What a method of the box answers. Throws `Problem` with a sentence for the person. */
export async function ask(method, parameters = {}) {
  const answer = await send(`/api/${method}`, {
    method: "POST",
    headers: { ...headers(), "Content-Type": "application/json" },
    body: JSON.stringify(parameters),
  });
  return (await answer.json()).result;
}

export async function faceTable() {
  return (await send("/face", { headers: headers() })).json();
}

/** Where the page of a plugin is; "" when it has none. */
export async function pageOf(plugin) {
  return (await (await send(`/page-of/${encodeURIComponent(plugin)}`, { headers: headers() })).json()).address;
}

/** What an address of a plugin answers, as JSON or as text. */
export async function askPlugin(plugin, { method = "GET", path = "", query = {}, body = null }) {
  const address = `/api/plugin/${encodeURIComponent(plugin)}/${path.split("/").map(encodeURIComponent).join("/")}`;
  const answer = await send(`${address}?${new URLSearchParams(query)}`, {
    method,
    headers: { ...headers(), "Content-Type": "application/json" },
    body: ["POST", "PUT"].includes(method) ? JSON.stringify(body) : null,
  });
  const text = await answer.text();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const pictures = new Map();

/** An address of this page for a picture: of the store ("img:…"), of a plugin's own route, or of the internet. */
export async function pictureAddress(source) {
  if (!pictures.has(source)) {
    const address = whereToAsk(source);
    pictures.set(source, send(address, { headers: headers() }).then(async (answer) => URL.createObjectURL(await answer.blob())));
    pictures.get(source).catch(() => pictures.delete(source));
  }
  return pictures.get(source);
}

function whereToAsk(source) {
  if (source.startsWith("img:")) return `/picture/${encodeURIComponent(source)}`;
  // The address that plugins know for a picture of the store, and those that they serve themselves.
  const kept = /^\/api\/tool-image\/([\w.-]+)$/.exec(source);
  if (kept) return `/picture/${encodeURIComponent(`img:${kept[1]}`)}`;
  if (/^\/api\/plugin\/[\w.-]+\/[^?#\\]*(\?[^#]*)?$/.test(source) && !source.includes("..")) return source;
  return `/outside?url=${encodeURIComponent(source)}`;
}

/** Calls `onEvent` with every event of the box until `signal` ends it; comes back by itself after a broken tunnel. */
export async function follow(onEvent, onLink, signal) {
  for (let wait = 500; !signal.aborted; wait = Math.min(2 * wait, 10_000)) {
    try {
      const answer = await send("/events", { headers: headers(), signal });
      onLink(true);
      wait = 500;
      await readEvents(answer.body, onEvent);
    } catch (error) {
      if (signal.aborted) return;
      onLink(false, error);
      if (error.status === 401) return;
    }
    await new Promise((done) => setTimeout(done, wait));
  }
}

async function readEvents(body, onEvent) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    held += value;
    const parts = held.split("\n\n");
    held = parts.pop();
    for (const part of parts) if (part.startsWith("data: ")) onEvent(JSON.parse(part.slice(6)));
  }
}
