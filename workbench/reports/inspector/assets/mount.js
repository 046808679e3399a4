// Putting the parts together: in a notebook (default export) and on a page (mountAll).
function mount(root, facts, view, actions) {
  instances += 1;
  const live = h("p", { class: "wb-offscreen", role: "status", "aria-live": "polite" });
  const problem = h("p", { class: "wb-problem", role: "alert", hidden: true });
  const state = { view, announce: (text) => { live.textContent = text; } };
  const entries = new Map(facts.entries.map((entry) => [entry.id, entry]));
  const head = heading(facts, state);
  const parts = [settings(facts, state, actions), budgets(facts), changes(facts, entries), promptPanel(facts, entries)];
  const table = candidateTable(facts, entries, state, actions);
  const [controls, tiers, differences, prompt] = parts.map((part) => part.element);
  root.classList.add("wb-inspector");
  // JupyterLab's shortcuts would take the arrow keys from the sliders and the letters from the search box
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Context inspector");
  fill(root, head.element, problem, h("div", { class: "wb-top" }, controls, tiers, differences),
    h("div", { class: "wb-main" }, prompt, table.element), live);

  function update(next) {
    state.view = next;
    [head, ...parts, table].forEach((part) => part.update(next));
  }
  function found(more) {
    more.filter((entry) => !entries.has(entry.id)).forEach((entry) => entries.set(entry.id, entry));
    table.update(state.view);
  }
  function complain(text) {
    problem.textContent = text;
    problem.hidden = !text;
  }
  update(view);
  return {
    complain, found,
    update(next) {
      update(next);
      state.announce(`${counted(next.selected, "entry", "entries")} in the prompt, ${next.entering.length} enter, ${next.leaving.length} leave`);
    },
  };
}

function render({ model, el }) {
  const actions = {
    move(values) { model.set("values", values); model.save_changes(); },
    find(text) { model.send({ find: text }); },
  };
  const shown = mount(el, model.get("facts"), model.get("view"), actions);
  const viewed = () => shown.update(model.get("view"));
  const refused = () => shown.complain(model.get("problem"));
  const answered = (message) => { if (message?.entries) shown.found(message.entries); };
  model.on("change:view", viewed);
  model.on("change:problem", refused);
  model.on("msg:custom", answered);
  return () => {
    model.off("change:view", viewed);
    model.off("change:problem", refused);
    model.off("msg:custom", answered);
  };
}

function mountAll(page) {
  for (const root of page.querySelectorAll("[data-wb-inspector]")) {
    const { facts, view } = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    mount(root, facts, view, null);
  }
}

export default { render };
