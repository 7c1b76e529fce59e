// Conversations: the list, one of them with its pictures, and what may be done with it.

import { ask, pictureAddress } from "./api.js";
import { doing, make, outwards, sure, time } from "./dom.js";
import { markdown } from "./markdown.js";

export async function open(view, wanted) {
  const list = make("ul", { class: "chats" });
  const shown = make("section", { class: "chat", "aria-live": "off" });
  const refresh = async (open_id) => {
    const chats = await ask("chat.list");
    const chosen = chats.find((chat) => chat.chat === open_id) ?? chats.find((chat) => chat.is_current) ?? chats[0];
    list.replaceChildren(...chats.map((chat) => entry(chat, chat === chosen)));
    if (chosen) await show(shown, chosen, refresh);
    else shown.replaceChildren(make("p", {}, "There is no conversation yet."));
  };
  view.append(make("div", { class: "columns" }, make("div", {}, list, begin(refresh)), shown));
  await refresh(wanted);
  return {
    onEvent(event) {
      if (event.event === "TurnEnded") refresh(current(shown)).catch(() => {});
    },
  };
}

const current = (shown) => shown.dataset.chat;

function entry(chat, isChosen) {
  const marks = [chat.is_current && "in use", chat.is_private && (chat.is_open ? "private, open" : "private, locked")];
  return make(
    "li",
    {},
    make("a", { href: `#chats/${encodeURIComponent(chat.chat)}`, "aria-current": isChosen ? "true" : false }, chat.name || chat.chat),
    make("small", {}, ` ${chat.turns} turns `, marks.filter(Boolean).join(", ")),
  );
}

function begin(refresh) {
  const name = make("input", { id: "new-chat", maxlength: 80 });
  const secret = make("input", { type: "checkbox", id: "new-private" });
  const work = async () => {
    const chat = await ask("chat.new", { name: name.value.trim(), private: secret.checked });
    name.value = "";
    await refresh(chat.chat);
  };
  return make(
    "fieldset",
    {},
    make("legend", {}, "A new conversation"),
    make("label", { for: "new-chat" }, "Name"),
    name,
    make("label", {}, secret, " private"),
    doing("Begin", work),
  );
}

async function show(section, chat, refresh) {
  section.dataset.chat = chat.chat;
  const head = [make("h3", {}, chat.name || chat.chat), tools(chat, refresh)];
  if (chat.is_private && !chat.is_open) {
    section.replaceChildren(...head, make("p", { class: "locked" }, "This conversation is locked. Nothing of it is shown."), unlock(chat, refresh));
    return;
  }
  const turns = await ask("chat.show", { chat: chat.chat });
  if (section.dataset.chat !== chat.chat) return;
  section.replaceChildren(...head, turns.length ? make("ol", { class: "turns" }, turns.map(turn)) : make("p", {}, "Nothing was said in it yet."));
  section.querySelector(".turns")?.lastElementChild?.scrollIntoView({ block: "nearest" });
}

function tools(chat, refresh) {
  const name = make("input", { value: chat.name, "aria-label": "Name of this conversation", maxlength: 80 });
  const change = (method, parameters = {}) => async () => {
    await ask(method, { chat: chat.chat, ...parameters });
    await refresh(chat.chat);
  };
  const after = (question, work) => async () => (await sure(question)) && work();
  const own = chat.name || chat.chat;
  return make(
    "div",
    { class: "toolbar" },
    chat.is_current ? null : doing("Go on in it", change("chat.use")),
    name,
    doing("Rename", async () => change("chat.rename", { name: name.value.trim() })()),
    doing("Clear", after(`Delete everything that was said in “${own}”?`, change("chat.clear"))),
    doing("Delete", after(`Delete “${own}” with everything in it?`, async () => (await ask("chat.delete", { chat: chat.chat }), refresh()))),
    chat.is_private
      ? chat.is_open && doing("Lock", change("chat.lock"))
      : doing("Make private", after(`Make “${own}” private? It cannot be made open again.`, change("chat.private"))),
  );
}

function unlock(chat, refresh) {
  const passphrase = make("input", { type: "password", id: "passphrase", autocomplete: "off" });
  return make(
    "div",
    {},
    make("label", { for: "passphrase" }, "Passphrase of the private conversations"),
    passphrase,
    doing("Open", async () => {
      await ask("chat.unlock", { chat: chat.chat, passphrase: passphrase.value });
      await refresh(chat.chat);
    }),
  );
}

function turn(said) {
  return make(
    "li",
    {},
    make("p", { class: "person" }, make("b", {}, "You"), " ", said.user_text, " ", time(said.at)),
    ...said.items.filter((item) => item.type === "shown").map(pictures),
    make("div", { class: "box" }, make("b", {}, "Box"), ...markdown(said.reply_text)),
    said.heard_text !== said.reply_text && said.heard_text ? make("p", { class: "note" }, "Heard until: ", said.heard_text.slice(-60)) : null,
    calls(said.items),
  );
}

function calls(items) {
  const made = items.filter((item) => item.type === "function_call");
  if (!made.length) return null;
  const outputs = new Map(items.filter((item) => item.type === "function_call_output").map((item) => [item.call_id, item.output]));
  return make(
    "details",
    {},
    make("summary", {}, `${made.length} ${made.length === 1 ? "tool" : "tools"}`),
    made.map((call) => [
      make("p", {}, make("code", {}, `${call.name} ${call.arguments}`)),
      make("pre", { tabindex: "0" }, String(outputs.get(call.call_id) ?? "")),
    ]),
  );
}

function pictures({ tool, pictures: single, galleries }) {
  return make(
    "div",
    { class: "shown" },
    single.map(({ handle }) => tile({ title: `from ${tool.replaceAll("_", " ")}`, handle }, null)),
    galleries.map((gallery) =>
      make(
        "figure",
        { class: "gallery" },
        gallery.title ? make("figcaption", {}, gallery.title) : null,
        make("ol", {}, gallery.tiles.map((entry, index) => make("li", {}, tile(entry, index + 1)))),
      ),
    ),
  );
}

function tile(entry, number) {
  const words = [number && `${number}.`, entry.title].filter(Boolean).join(" ");
  const image = make("img", { alt: words || "picture", loading: "lazy" });
  const button = make("button", { type: "button", class: "tile", onclick: () => lightbox(entry, words) }, image, make("span", {}, words));
  load(image, entry.handle || entry.thumb || entry.full);
  return button;
}

async function load(image, source) {
  try {
    image.src = await pictureAddress(source);
  } catch (error) {
    image.replaceWith(make("span", { class: "gone" }, error.message));
  }
}

function lightbox(entry, words) {
  const image = make("img", { alt: words || "picture" });
  const dialog = make(
    "dialog",
    { class: "lightbox", "aria-label": words || "picture", onclose: () => dialog.remove() },
    image,
    make("p", {}, words, " ", entry.page ? outwards(entry.page, "where it comes from") : null),
    make("form", { method: "dialog" }, make("button", { autofocus: true }, "Close")),
  );
  document.body.append(dialog);
  dialog.showModal();
  load(image, entry.full || entry.handle || entry.thumb);
}
