// Every candidate, its contributions, its fate, and why it is not in the prompt.
const FIRST = 40;
const LAYER_NAMES = { memory: "memories", episode: "episodes", procedure: "procedures", soul: "Soul blocks" };

function candidateTable(facts, entries, state, actions) {
  const own = instances;
  const place = new Map(facts.layers.map((name, at) => [name, at]));
  const order = new Map(facts.fates.map((name, at) => [name, at]));
  const before = new Map(facts.against.ranks);
  const opened = new Set();
  const grown = new Set();
  const body = h("div", { class: "wb-rows", tabindex: 0, role: "region", "aria-label": "Candidates" });
  const status = h("p", { class: "wb-note", role: "status" });
  const search = h("input", { type: "search", id: `wb-search-${own}`, placeholder: "id, text or fate", oninput: typed });
  const fates = h("select", { id: `wb-fate-${own}`, onchange: draw });
  const layers = h("select", { id: `wb-layer-${own}`, onchange: draw },
    h("option", { value: "" }, "all layers"), facts.layers.map((name) => h("option", { value: name }, LAYER_NAMES[name])));
  let rows = [];
  let timer;

  function typed() {
    draw();
    clearTimeout(timer);
    if (facts.unlisted && actions && search.value.trim()) timer = setTimeout(() => actions.find(search.value), 250);
  }

  function update(view) {
    const live = new Set(view.rows.map((row) => row.id));
    rows = [...view.rows, ...[...entries.values()].filter((entry) => !live.has(entry.id))].map((row) => {
      const entry = entries.get(row.id) ?? row;
      const hay = `${row.id}\n${entry.text}\n${row.fate}\n${row.reason}\n${entry.category}`.toLowerCase();
      return { ...row, entry, layer: entry.layer, hay, live: live.has(row.id) };
    });
    rows.sort((a, b) => place.get(a.layer) - place.get(b.layer) || (a.rank ?? 1e9) - (b.rank ?? 1e9) || order.get(a.fate) - order.get(b.fate));
    const chosen = fates.value;
    const number = (name) => rows.filter((row) => row.fate === name).length;
    fill(fates, h("option", { value: "" }, `candidates and standing (${view.rows.length})`),
      facts.fates.map((name) => h("option", { value: name }, `${name} (${number(name)})`)));
    fates.value = chosen;
    draw();
  }

  function draw() {
    const text = search.value.trim().toLowerCase();
    const wanted = rows.filter((row) => (!layers.value || row.layer === layers.value)
      && (fates.value ? row.fate === fates.value : row.live || text) && row.hay.includes(text));
    const parts = facts.layers.map((layer) => [layer, wanted.filter((row) => row.layer === layer)]).filter(([, inside]) => inside.length);
    const kept = body.scrollTop;
    fill(body, parts.map(([layer, inside]) => layerTable(layer, inside)));
    body.scrollTop = kept;
    const hidden = facts.unlisted ? `; ${counted(facts.unlisted, "more entry", "more entries")} never retrieved ${actions ? "can be found by searching" : "not listed"}` : "";
    const none = facts.candidates ? "" : "; the search found no candidate";
    status.textContent = `${counted(wanted.length, "entry", "entries")} shown${none}${hidden}`;
  }

  function layerTable(layer, inside) {
    const most = grown.has(layer) ? inside.length : FIRST;
    const selected = inside.filter((row) => row.fate === "selected").length;
    const scored = layer !== "soul";
    const table = h("table", {},
      h("caption", {}, `${capital(LAYER_NAMES[layer])}: ${selected} selected of ${inside.length} shown`),
      h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "wb-number" }, "rank"), h("th", { scope: "col" }, "entry"),
        scored ? h("th", { scope: "col", class: "wb-score" }, "score") : null,
        h("th", { scope: "col", class: "wb-number" }, "tokens"), h("th", { scope: "col" }, "fate"))),
      h("tbody", {}, inside.slice(0, most).flatMap((row) => entryRow(row, scored))));
    const more = inside.length > most
      ? h("button", { type: "button", class: "wb-more", onclick: () => { grown.add(layer); draw(); body.focus(); } }, `Show all ${inside.length}`)
      : null;
    return h("div", { class: "wb-layer" }, table, more);
  }

  function entryRow(row, scored) {
    const change = state.view.entering.includes(row.id) ? "enters" : state.view.leaving.includes(row.id) ? "leaves" : "";
    const detailId = `wb-why-${own}-${rows.indexOf(row)}`;
    const line = h("tr", { class: `wb-entry ${row.fate === "selected" ? "wb-in" : "wb-out"} ${change ? `wb-${change}` : ""}`, "data-id": row.id });
    const button = h("button", {
      type: "button", class: "wb-why", "aria-expanded": opened.has(row.id), "aria-controls": opened.has(row.id) ? detailId : null, "aria-label": `why ${row.fate}? ${row.id}`,
      onclick: () => {
        if (opened.delete(row.id)) line.nextElementSibling.remove();
        else { opened.add(row.id); line.after(detail(row, detailId, scored)); }
        button.setAttribute("aria-expanded", opened.has(row.id));
        if (opened.has(row.id)) button.setAttribute("aria-controls", detailId);
        else button.removeAttribute("aria-controls");
      },
    }, "why?");
    const was = before.get(row.id);
    line.append(
      h("td", { class: "wb-number" }, row.rank ?? "–", was !== undefined && row.rank !== was && row.rank !== undefined && row.rank !== null
        ? h("small", {}, ` was ${was}`) : null),
      h("th", { scope: "row" }, said(row.id, "code"), " ", said(row.entry.text, "span", { class: "wb-text" })));
    if (scored) line.append(h("td", { class: "wb-score" }, row.parts ? bar(row) : "–"));
    line.append(
      h("td", { class: "wb-number" }, row.tokens),
      h("td", {}, h("span", { class: "wb-fate" }, row.fate), button, change ? h("b", { class: "wb-change" }, change) : null));
    return opened.has(row.id) ? [line, detail(row, detailId, scored)] : [line];
  }

  function bar(row) {
    const full = Math.max(state.view.highest, 1e-9);
    const told = facts.signals.map((name, at) => `${name} ${fixed(row.parts[at], 3)}`).join(", ");
    return [h("span", { class: "wb-bar", role: "img", "aria-label": `contributions: ${told}`, title: told },
      row.parts.map((part, at) => h("i", { class: `wb-s${at}`, style: { width: `${(100 * part) / full}%` } }))),
    h("span", { class: "wb-number" }, fixed(row.score, 3))];
  }

  function detail(row, id, scored) {
    const facets = row.parts
      ? h("table", { class: "wb-parts" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "signal"), h("th", { scope: "col", class: "wb-number" }, "value"),
          h("th", { scope: "col", class: "wb-number" }, "contributes"))),
        h("tbody", {}, facts.signals.map((name, at) => h("tr", {},
          h("th", { scope: "row" }, h("i", { class: `wb-chip wb-s${at}`, "aria-hidden": "true" }), name),
          h("td", { class: "wb-number" }, fixed(row.signals[at], 3)), h("td", { class: "wb-number" }, fixed(row.parts[at], 4))))))
      : h("p", { class: "wb-note" }, "It was not scored.");
    const about = [row.entry.category, row.entry.date].filter(Boolean).join(", ");
    return h("tr", { id, class: "wb-detail" }, h("td", { colspan: scored ? 5 : 4 },
      h("p", {}, h("b", {}, row.fate), ". ", said(row.reason), ". ", said(row.gap ?? "")),
      said(row.entry.text, "p", { class: "wb-full" }), about ? said(about, "p", { class: "wb-note" }) : null,
      scored ? facets : null));
  }

  const legend = h("p", { class: "wb-legend" }, "contribution of ", facts.signals.map((name, at) => h("span", {},
    h("i", { class: `wb-chip wb-s${at}`, "aria-hidden": "true" }), name)));
  const element = h("section", { class: "wb-card", "aria-label": "Candidates and their fates" },
    h("h3", {}, "Candidates: why this one, why not that one?"),
    h("div", { class: "wb-filters" },
      [["Search", search], ["Fate", fates], ["Layer", layers]].map(([name, input]) => h("span", {}, h("label", { for: input.id }, name), input))),
    legend, status, body);
  return { element, update, draw };
}
