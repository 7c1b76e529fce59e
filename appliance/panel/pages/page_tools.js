// Plugins and their tools as a model sees them: what they may do, why one is not offered, on and off, settings, toolsets.

import { ask, pageOf } from "./api.js";
import { doing, make, sure } from "./dom.js";
import { settingsForm } from "./forms.js";
import { pluginFrame } from "./plugin_frame.js";

export async function open(view, wanted) {
  const problems = make("div");
  const plugins = make("ul", { class: "plugins" });
  const own = make("ul", { class: "tools-list" });
  const toolsets = make("div");
  view.append(
    problems,
    make("h3", {}, "Plugins"),
    plugins,
    make("h3", {}, "Tools of the box"),
    make("details", {}, make("summary", {}, "Show them"), own),
    make("h3", {}, "Toolsets"),
    toolsets,
  );
  let opened = wanted;
  const refresh = async () => {
    const [rows, tools, wrong, sets] = await Promise.all([ask("plugin.list"), ask("tool.list"), ask("tool.problems"), ask("toolset.list")]);
    problems.replaceChildren(wrong.length ? make("ul", { class: "problem", "aria-label": "Problems" }, wrong.map((sentence) => make("li", {}, sentence))) : "");
    plugins.replaceChildren(...rows.map((row) => plugin(row, tools, row.name === opened, (name) => (opened = name), refresh)));
    own.replaceChildren(...tools.filter((tool) => tool.origin === "box").map(toolRow));
    showToolsets(toolsets, sets, tools, refresh);
  };
  await refresh();
  return {};
}

function plugin(row, tools, isOpen, setOpen, refresh) {
  const more = make("div", { class: "more" });
  const load = async (sentence) => {
    const [info, page] = await Promise.all([ask("plugin.info", { name: row.name }), pageOf(row.name)]);
    more.replaceChildren(...details(info, tools, load, sentence), page ? pluginFrame(row.name, page) : "");
  };
  const whole = make(
    "details",
    { open: isOpen, ontoggle: () => whole.open && (setOpen(row.name), load().catch((error) => more.replaceChildren(make("p", { class: "problem" }, error.message)))) },
    make("summary", {}, row.title || row.name.replaceAll("_", " "), " ", state(row)),
    more,
  );
  const turn = async () => {
    if (row.is_on && !(await sure(`Switch ${row.name} off? Its tools are gone from the next question on.`))) return;
    await ask("plugin.switch", { name: row.name, on: !row.is_on });
    await refresh();
  };
  const label = row.is_on ? "Switch off" : "Switch on";
  return make(
    "li",
    { "data-plugin": row.name, class: row.problems.length || row.withheld ? "troubled" : "" },
    whole,
    doing(label, turn, { "aria-label": `${label} ${row.name}` }),
    [row.withheld, ...row.problems, ...row.not_used, row.missing_keys.length && `It lacks keys: ${row.missing_keys.join(", ")}; appliance credential set ${row.name} NAME`]
      .filter(Boolean)
      .map((sentence) => make("p", { class: "problem" }, sentence)),
  );
}

function state(row) {
  const words = [row.is_loaded ? "on" : row.is_on ? "not loaded" : "off", row.contract === "tool" ? "plugin tool" : "tool module", row.version, row.pin].filter(Boolean);
  return make("small", {}, words.join(" · "));
}

function details(info, tools, reload, sentence) {
  const mine = info.tools.map((tool) => ({ ...tools.find((known) => known.name === tool.name), ...tool }));
  return [
    mine.length ? make("ul", { class: "tools-list" }, mine.map(toolRow)) : make("p", {}, "It offers no tool now."),
    info.lanes.length ? make("div", {}, make("h4", {}, "Ways out"), make("ul", {}, info.lanes.map((lane) => make("li", {}, lane)))) : null,
    info.hosts_today.length
      ? make("div", {}, make("h4", {}, "Asked today"), make("ul", {}, info.hosts_today.map((row) => make("li", {}, `${row.host} (${row.lane}), ${row.requests} times`))))
      : null,
    Object.keys(info.keys).length
      ? make("div", {}, make("h4", {}, "Keys"), make("ul", {}, Object.entries(info.keys).map(([name, has]) => make("li", {}, `${name}: ${has ? "there" : `missing; appliance credential set ${info.plugin.name} ${name}`}`))))
      : null,
    info.settings.length ? settingsForm(info.plugin.name, info.settings, reload, sentence) : null,
  ].filter(Boolean);
}

function toolRow(tool) {
  const schema = make("pre", { tabindex: "0" });
  const load = async () => (schema.textContent = JSON.stringify((await ask("tool.why", { name: tool.name })).schema, null, 2) ?? "It is not offered.");
  const labels = Array.isArray(tool.labels) ? tool.labels : [];
  return make(
    "li",
    { "data-tool": tool.name },
    make("b", {}, tool.name),
    " ",
    make("span", { class: `risk ${tool.risk}`, title: tool.why_risk ?? "" }, tool.risk),
    labels.map((label) => make("span", { class: "label" }, label)),
    make("p", {}, tool.description ?? ""),
    tool.private_chats ? make("p", { class: "note" }, tool.private_chats) : null,
    tool.why_not ? make("p", { class: "problem" }, `Not offered: ${tool.why_not}`) : null,
    make("details", { ontoggle: () => load().catch((error) => (schema.textContent = error.message)) }, make("summary", {}, "As a model sees it"), schema),
  );
}

function showToolsets(place, { toolsets, dangling }, tools, refresh) {
  const use = (name) => async () => (await ask("toolset.use", { names: [name] }), refresh());
  const drop = (name) => async () => (await sure(`Delete the toolset “${name}”?`)) && (await ask("toolset.delete", { name }), refresh());
  place.replaceChildren(
    make(
      "ul",
      { class: "toolsets" },
      toolsets.map((row) =>
        make(
          "li",
          {},
          make("b", {}, row.name),
          make("small", {}, ` ${row.tools.length} tools${row.in_use ? ", in use" : ""} `),
          row.in_use ? null : doing("Use", use(row.name), { "aria-label": `Use ${row.name}` }),
          row.saved ? doing("Delete", drop(row.name), { "aria-label": `Delete ${row.name}` }) : null,
        ),
      ),
    ),
    dangling.length ? make("p", { class: "note" }, `Not there any more: ${dangling.join(", ")}`) : "",
    newToolset(tools, refresh),
  );
}

function newToolset(tools, refresh) {
  const name = make("input", { id: "toolset-name", maxlength: 60 });
  const boxes = tools.filter((tool) => tool.origin !== "box").map((tool) => make("label", {}, make("input", { type: "checkbox", value: tool.name }), ` ${tool.name}`));
  const save = async () => {
    const chosen = boxes.map((label) => label.firstChild).filter((box) => box.checked).map((box) => box.value);
    await ask("toolset.save", { name: name.value.trim(), tools: chosen });
    await refresh();
  };
  return make(
    "details",
    {},
    make("summary", {}, "A new toolset"),
    make("label", { for: "toolset-name" }, "Name "),
    name,
    make("fieldset", { class: "choices" }, make("legend", {}, "Its tools"), boxes),
    doing("Keep", save),
  );
}
