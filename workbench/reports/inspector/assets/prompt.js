// The prompt, section by section, line by line as the model gets it.
function promptPanel(facts, entries) {
  const body = h("div", { class: "wb-prompt", tabindex: 0, role: "region", "aria-label": "Prompt, section by section" });
  const update = (view) => {
    const fresh = new Set(view.entering);
    fill(body, view.sections.map((section) => {
      const shown = section.lines.filter((line) => line.id).length;
      return h("section", { class: "wb-section", "data-section": section.name },
        h("h4", {}, capital(words(section.name)), " ", h("span", { class: "wb-count" },
          section.lines.length ? `${counted(shown, "entry", "entries")}, ${counted(section.tokens, "token")}` : "left out: nothing to show")),
        section.lines.map((line) => promptLine(line, entries, fresh)));
    }));
  };
  return { element: h("section", { class: "wb-card", "aria-label": "Prompt" }, h("h3", {}, "Prompt"), body), update };
}

function promptLine(line, entries, fresh) {
  const stored = entries.get(line.id);
  const text = line.line ?? stored?.line ?? `- ${stored?.text ?? ""}`;
  const enters = fresh.has(line.id);
  return h("div", { class: enters ? "wb-line wb-fresh" : "wb-line", "data-id": line.id },
    enters ? h("span", { class: "wb-mark" }, h("span", { "aria-hidden": "true" }, "+"), h("span", { class: "wb-offscreen" }, "enters: ")) : null,
    said(text));
}
