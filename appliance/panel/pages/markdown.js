// The markdown that models write, as elements. Whatever is not understood stays the text that it is.

import { make, outwards } from "./dom.js";

const INLINE = /`([^`\n]+)`|\*\*([^*\n]+)\*\*|__([^_\n]+)__|\*([^*\n]+)\*|\b_([^_\n]+)_\b|\[([^\]\n]*)\]\(([^()\s]+(?:\([^()\s]*\))?)\)/g;

function inline(text) {
  const found = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    found.push(text.slice(end, match.index));
    const [, code, strong, strong2, soft, soft2, words, address] = match;
    if (code !== undefined) found.push(make("code", {}, code));
    else if (strong ?? strong2) found.push(make("strong", {}, strong ?? strong2));
    else if (soft ?? soft2) found.push(make("em", {}, soft ?? soft2));
    else found.push(outwards(address, words || address));
    end = match.index + match[0].length;
  }
  return [...found, text.slice(end)];
}

function table(rows) {
  const cells = rows.map((row) => row.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim()));
  const hasHead = cells.length > 1 && cells[1].every((cell) => /^:?-+:?$/.test(cell));
  const body = hasHead ? cells.slice(2) : cells;
  const row = (tag) => (entries) => make("tr", {}, entries.map((entry) => make(tag, tag === "th" ? { scope: "col" } : {}, ...inline(entry))));
  return make("table", {}, hasHead ? make("thead", {}, row("th")(cells[0])) : null, make("tbody", {}, body.map(row("td"))));
}

/** What a model wrote without the moods that it set for the voice: "[happily] Good morning" is "Good morning". */
export function withoutMoods(text) {
  return text.replace(/\[[a-z][a-z' -]{2,24}\](?!\()[ \t]*/gi, "");
}

/** Elements for a text in markdown. */
export function markdown(marked) {
  const text = withoutMoods(marked);
  const blocks = [];
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  let paragraph = [];
  const close = () => {
    if (paragraph.length) blocks.push(make("p", {}, ...inline(paragraph.join("\n"))));
    paragraph = [];
  };
  const take = (fits, first) => {
    const taken = [];
    let at = first;
    for (; at < lines.length && fits(lines[at]); at++) taken.push(lines[at]);
    return [taken, at - 1];
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at];
    const item = /^\s*([-*+•]|\d{1,3}[.)])\s+/;
    if (/^\s*(```|~~~)/.test(line)) {
      close();
      const [code, last] = take((next) => !/^\s*(```|~~~)\s*$/.test(next), at + 1);
      blocks.push(make("pre", { tabindex: "0" }, make("code", {}, code.join("\n"))));
      at = last + 1;
    } else if (/^\s*\|.*\|\s*$/.test(line)) {
      close();
      const [rows, last] = take((next) => /^\s*\|.*\|\s*$/.test(next), at);
      blocks.push(table(rows));
      at = last;
    } else if (item.test(line)) {
      close();
      const [items, last] = take((next) => item.test(next), at);
      const tag = /^\s*\d/.test(line) ? "ol" : "ul";
      blocks.push(make(tag, {}, items.map((entry) => make("li", {}, ...inline(entry.replace(item, ""))))));
      at = last;
    } else if (/^#{1,6}\s/.test(line)) {
      close();
      blocks.push(make("p", { class: "heading" }, ...inline(line.replace(/^#+\s+/, ""))));
    } else if (!line.trim()) close();
    else paragraph.push(line);
  }
  close();
  return blocks;
}
