// What was asked, what it cost, and what differs from the context it is compared with.
function heading(facts, state) {
  const numbers = h("p", { class: "wb-numbers" });
  const element = h("header", { class: "wb-head" },
    said(facts.query || "(no query)", "h2", { class: "wb-query" }),
    h("p", { class: "wb-note" }, "user ", said(facts.user, "b"), ` at ${facts.now}; ${counted(facts.candidates, "candidate")} of `,
      `${counted(facts.stored, "entry", "entries")}; encoder ${facts.encoder}`),
    numbers,
    h("div", { class: "wb-buttons" },
      copyButton("Copy prompt", () => state.view.prompt, state.announce),
      copyButton("Copy configuration (TOML)", () => state.view.toml, state.announce)));
  const update = (view) => fill(numbers,
    h("b", {}, counted(view.selected, "entry", "entries")), " in the prompt, ",
    h("b", {}, counted(view.total.used, "token")),
    view.total.budget === null ? "" : ` of ${view.total.budget.toLocaleString("en")}`,
    `, configuration ${view.hash}`,
    view.milliseconds === undefined ? "" : h("span", { class: "wb-time" }, `, re-ranked in ${view.milliseconds.toFixed(1)} ms`));
  return { element, update };
}

function budgets(facts) {
  const list = h("ul", { class: "wb-tiers" });
  const update = (view) => fill(list, view.tiers.map((tier) => {
    const used = tier.parts.reduce((sum, part) => sum + part.tokens, 0);
    const scale = Math.max(tier.budget, used, 1);
    const names = tier.parts.filter((part) => part.tokens).map((part) => `${words(part.section)} ${part.tokens}`).join(", ");
    const sentence = `${tier.name}: ${used} of ${tier.budget} tokens used${names ? ` (${names})` : ""}`;
    return h("li", {},
      h("span", { class: "wb-tier-name" }, tier.name),
      h("span", { class: "wb-track", role: "img", "aria-label": sentence, title: sentence },
        tier.parts.map((part, at) => h("i", { class: `wb-part-${at}`, style: { width: `${(100 * part.tokens) / scale}%` } }))),
      h("span", { class: "wb-number" }, `${used.toLocaleString("en")} / ${tier.budget.toLocaleString("en")}`));
  }));
  const element = h("section", { class: "wb-card", "aria-label": "Tokens per budget" },
    h("h3", {}, "Tokens used / budget"), list,
    h("p", { class: "wb-note" }, "The memories budget holds preferences (lighter) and relevant facts."));
  return { element, update };
}

function changes(facts, entries) {
  const body = h("div", { class: "wb-changes" });
  const warnings = h("ul", { class: "wb-warnings" });
  const list = (title, sign, ids, kind) => h("div", { class: `wb-${kind}` },
    h("h4", {}, `${title} (${ids.length})`),
    ids.length
      ? h("ul", { tabindex: 0, "aria-label": title }, ids.map((id) => h("li", {}, h("b", { "aria-hidden": "true" }, sign), " ", said(id, "code"), " ",
        said(entries.get(id)?.text ?? ""))))
      : h("p", { class: "wb-note" }, "nothing"));
  const update = (view) => {
    const tokens = view.total.used - view.total.before;
    const same = !view.entering.length && !view.leaving.length;
    fill(body, same
      ? h("p", { class: "wb-note" }, "The same entries are in the prompt.")
      : [list("Enters", "+", view.entering, "enters"), list("Leaves", "−", view.leaving, "leaves")],
    h("p", { class: "wb-note" }, `${tokens > 0 ? "+" : tokens < 0 ? "−" : "±"}${counted(Math.abs(tokens), "token")}`));
    fill(warnings, view.warnings.map((text) => said(text, "li")));
    warnings.hidden = !view.warnings.length;
  };
  const element = h("section", { class: "wb-card wb-differences", "aria-label": "Changes" },
    h("h3", {}, `Against ${facts.against.name}`), body, warnings);
  return { element, update };
}
