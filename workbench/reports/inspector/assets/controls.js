// Sliders in a notebook; on a page without a kernel, the settings as a list.
function settings(facts, state, actions) {
  return actions ? sliderPanel(facts, state, actions) : settingsList(facts);
}

function sliderPanel(facts, state, actions) {
  const values = { ...state.view.values };
  const parts = facts.sliders.map((slider) => sliderRow(facts, slider, values, actions.move));
  const group = (name, legend, note) => h("fieldset", { class: "wb-group" },
    h("legend", {}, legend), note ? h("p", { class: "wb-note" }, note) : null,
    parts.filter((part) => part.slider.group === name).map((part) => part.element));
  const starts = facts.starts.map((start) => h("button", {
    type: "button",
    onclick: () => {
      Object.assign(values, start.values);
      parts.forEach((part) => part.place(values));
      actions.move({ ...values });
      state.announce(`${start.label}: done`);
    },
  }, start.label));
  const element = h("section", { class: "wb-card wb-controls", "aria-label": "Settings" },
    h("div", { class: "wb-groups" },
      group("weights", "Weights", "Only proportions count; the configuration gets the number on the right."),
      h("div", {},
        group("budgets", "Token budgets"),
        group("threshold", "Minimum score"),
        h("p", { class: "wb-note" }, "Arrow keys move a slider, Shift makes fine steps, Home and End go to its ends."),
        h("div", { class: "wb-buttons" }, starts))));
  return { element, update: (view) => parts.forEach((part) => part.show(view)) };
}

function sliderRow(facts, slider, values, move) {
  const id = `wb-slider-${instances}-${slider.name}`;
  const whole = slider.group === "budgets";
  // no output element: ten of them would all be read out after every change
  const output = h("span", { class: "wb-number" });
  const effect = h("span", { class: "wb-effect" });
  const at = facts.signals.indexOf(slider.name);
  const input = h("input", {
    id, type: "range", min: 0, max: slider.max, step: slider.fine, "data-name": slider.name,
    oninput: () => set(Number(input.value)),
    onkeydown: (event) => {
      const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
      if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      const goal = values[slider.name] + way * (event.shiftKey ? slider.fine : slider.step);
      set(Math.min(slider.max, Math.max(0, whole ? Math.round(goal) : Number(goal.toFixed(4)))));
    },
  });
  function set(value) {
    values[slider.name] = value;
    input.value = value;
    input.setAttribute("aria-valuetext", whole ? `${value} tokens` : String(value));
    move({ ...values });
  }
  function place(given) {
    input.value = given[slider.name];
    input.setAttribute("aria-valuetext", whole ? `${given[slider.name]} tokens` : String(given[slider.name]));
  }
  function show(view) {
    const value = view.values[slider.name];
    output.textContent = whole ? value.toLocaleString("en") : fixed(value, 3);
    if (at >= 0) {
      effect.textContent = decides(view, slider.name);
    }
  }
  place(values);
  const element = h("div", { class: at >= 0 ? "wb-slider wb-weight" : "wb-slider" },
    h("label", { for: id }, at >= 0 ? h("i", { class: `wb-chip wb-s${at}`, "aria-hidden": "true" }) : null, words(slider.name)),
    input, output, at >= 0 ? effect : null);
  return { slider, element, place, show };
}

// Shares of what orders the candidates add up to 1, unless there is nothing to put in order.
function decides(view, name) {
  const any = Object.values(view.effective).some((share) => share > 0);
  return any ? `decides ${Math.round(100 * view.effective[name])} %` : "nothing to order";
}

function settingsList(facts) {
  const list = h("dl", { class: "wb-settings" });
  const update = (view) => fill(list, facts.sliders.map((slider) => {
    const at = facts.signals.indexOf(slider.name);
    const value = view.values[slider.name];
    const more = at >= 0 ? `, ${decides(view, slider.name)}` : "";
    return h("div", {},
      h("dt", {}, at >= 0 ? h("i", { class: `wb-chip wb-s${at}`, "aria-hidden": "true" }) : null,
        slider.group === "budgets" ? `${slider.name} budget` : words(slider.name)),
      h("dd", {}, slider.group === "budgets" ? counted(value, "token") : fixed(value, 3) + more));
  }));
  const element = h("section", { class: "wb-card wb-controls", "aria-label": "Settings" }, h("h3", {}, "Settings"), list);
  return { element, update };
}
