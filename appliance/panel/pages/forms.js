// A form for a plugin's settings, made from its manifest. A secret is written and never read back.

import { ask } from "./api.js";
import { doing, make, sure } from "./dom.js";

/** The form; `saved` shows it anew, with a sentence, after the box has kept new values. */
export function settingsForm(plugin, settings, saved, sentence = "") {
  const fields = settings.map((setting) => field(plugin, setting));
  const groups = Map.groupBy ? Map.groupBy(fields, (one) => one.group) : grouped(fields);
  const said = make("p", { role: "status" }, sentence);
  const save = async () => {
    const values = {};
    for (const one of fields) {
      const value = one.value();
      if (value !== undefined) values[one.key] = value;
    }
    if (!Object.keys(values).length) return void (said.textContent = "Nothing was changed.");
    for (const one of fields) if (one.key in values && !(await one.confirmed(values[one.key]))) return;
    const { described_anew: count } = await ask("plugin.set", { name: plugin, values });
    await saved(count ? `Kept; ${count} of its tools describe themselves anew.` : "Kept.");
  };
  return make(
    "form",
    { class: "settings", onsubmit: (event) => event.preventDefault() },
    make("h4", {}, "Settings"),
    [...groups].map(([group, members]) =>
      group ? make("fieldset", {}, make("legend", {}, group), members.map((one) => one.element)) : members.map((one) => one.element),
    ),
    doing("Keep settings", save),
    said,
  );
}

function grouped(fields) {
  const found = new Map();
  for (const one of fields) found.set(one.group, [...(found.get(one.group) ?? []), one]);
  return found;
}

const asText = (value) => (Array.isArray(value) ? value.join("\n") : value === null || value === undefined ? "" : String(value));

function field(plugin, { key, value, is_secret: isSecret, help, form }) {
  const id = `set-${plugin}-${key}`;
  const about = form.help || help;
  const described = about ? { "aria-describedby": `${id}-help` } : {};
  const input = control(form, value, { id, ...described });
  const kept = isSecret ? "" : read(form, input);
  const element = make(
    "div",
    { class: "field" },
    form.widget === "radio" ? null : make("label", { for: id }, form.label),
    input,
    about && about !== form.label ? make("small", { id: `${id}-help` }, about) : null,
    isSecret ? make("small", {}, value === "set" ? "It is set. Leave this empty to keep it." : "It is not set.") : null,
  );
  return {
    key,
    group: form.group,
    element,
    value() {
      const now = read(form, input);
      if (isSecret) return now || undefined;
      return JSON.stringify(now) === JSON.stringify(kept) ? undefined : now;
    },
    async confirmed(now) {
      const asked = form.confirmation;
      if (!asked || (asked.values.length && !asked.values.includes(String(now)))) return true;
      return sure([asked.title, ...asked.warnings].join(" "), asked.button);
    },
  };
}

function control(form, value, properties) {
  switch (form.widget) {
    case "textarea":
      return make("textarea", { rows: 4, placeholder: form.placeholder, ...properties }, asText(value));
    case "list":
      return make("textarea", { rows: 4, placeholder: "one in each line", ...properties }, asText(value));
    case "password":
      return make("input", { type: "password", autocomplete: "new-password", ...properties });
    case "checkbox":
      return make("input", { type: "checkbox", checked: value === true || value === "true", ...properties });
    case "number":
      return make("input", { type: "number", step: "any", value: asText(value), ...properties });
    case "select":
      return make("select", properties, form.choices.map((one) => make("option", { value: one.value, selected: one.value === asText(value) }, one.label)));
    case "radio":
      return make(
        "fieldset",
        { ...properties, class: "choices" },
        make("legend", {}, form.label),
        form.choices.map((one) =>
          make("label", {}, make("input", { type: "radio", name: properties.id, value: one.value, checked: one.value === asText(value) }), ` ${one.label}`),
        ),
      );
    default:
      return make("input", { type: "text", placeholder: form.placeholder, value: asText(value), ...properties });
  }
}

function read(form, input) {
  switch (form.widget) {
    case "checkbox":
      return input.checked;
    case "list":
      return input.value.split("\n").map((line) => line.trim()).filter(Boolean);
    case "radio":
      return input.querySelector("input:checked")?.value ?? "";
    default:
      return input.value;
  }
}
