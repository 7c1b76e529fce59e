// Elements without markup: whatever a plugin, a model or a person wrote becomes text, never HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An element; properties that begin with "on" are listeners, the rest attributes (true sets, false leaves out). */
export function make(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function makeSvg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
}

/** A link that leaves the box; only to the web, and without telling it where from. */
export function outwards(address, ...children) {
  let is_web = false;
  try {
    is_web = ["http:", "https:"].includes(new URL(address).protocol);
  } catch {
    // Not an address at all.
  }
  if (!is_web) return make("span", {}, ...children);
  return make("a", { href: address, target: "_blank", rel: "noreferrer noopener" }, ...children);
}

/** A button that cannot be pressed twice while its work goes on; what goes wrong is said beside it. */
export function doing(label, work, properties = {}) {
  const said = make("span", { role: "alert", class: "problem" });
  const button = make("button", { type: "button", ...properties, onclick: press }, label);
  async function press() {
    button.disabled = true;
    said.textContent = "";
    try {
      await work();
    } catch (error) {
      said.textContent = error.message;
    } finally {
      button.disabled = false;
    }
  }
  return make("span", { class: "doing" }, button, said);
}

/** Asks before something that cannot be taken back. */
export function sure(question, yes = "") {
  return new Promise((answered) => {
    const dialog = make(
      "dialog",
      { "aria-label": question, onclose: () => (answered(dialog.returnValue === "yes"), dialog.remove()) },
      make("p", {}, question),
      make("form", { method: "dialog" }, make("button", { value: "no", autofocus: true }, "No"), make("button", { value: "yes", class: "grave" }, yes || "Yes")),
    );
    document.body.append(dialog);
    dialog.showModal();
  });
}

export function time(iso) {
  const when = new Date(iso);
  return make("time", { datetime: iso }, Number.isNaN(when.valueOf()) ? iso : when.toLocaleString());
}
