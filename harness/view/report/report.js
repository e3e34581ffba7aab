"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const byId = (id) => document.getElementById(id);
  const BATCH = 40, CLOSE = 220, LONG = 1200, MOST_COLUMNS = 3;

  // Elements are made from text alone: nothing that a document holds is ever read as markup.
  function make(tag, css, ...inside) {
    const made = document.createElement(tag);
    if (css) made.className = css;
    made.append(...inside);
    return made;
  }

  /* tables that can be sorted */
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if ("fixed" in head.dataset) return;
      const button = make("button", "", ...head.childNodes);
      button.type = "button";
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const numeric = head.classList.contains("num");
        const falls = head.getAttribute("aria-sort") === (numeric ? "descending" : "ascending") ? !numeric : numeric;
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", falls ? "descending" : "ascending");
        const keyed = [...body.rows].map((row) => [row.cells[column].dataset.key ?? "", row]);
        keyed.sort(([a], [b]) => {
          if (a === "" || b === "") return (a === "") - (b === "");
          const order = numeric ? Number(a) - Number(b) : a.localeCompare(b, undefined, { numeric: true });
          return falls ? -order : order;
        });
        body.append(...keyed.map(([, row]) => row));
      });
    });
  }

  const all = document.querySelector("[data-all]");
  if (all) {
    const table = document.querySelector("table.board");
    table.classList.add("first");
    all.addEventListener("click", () => { table.classList.remove("first"); all.remove(); });
  }

  /* the heat map of the chosen two settings */
  const chooser = document.querySelector("[data-heat]");
  if (chooser) {
    const show = () => {
      for (const grid of document.querySelectorAll("[data-grid]")) grid.hidden = grid.dataset.grid !== chooser.querySelector("select").value;
    };
    chooser.hidden = false;
    chooser.addEventListener("change", show);
    show();
  }

  /* every question */
  const list = byId("list"), form = byId("filters"), more = byId("more"), count = byId("count");
  let data, shown = [], drawn = 0, picked = null;

  async function unpack() {
    const packed = byId("packed");
    const bytes = Uint8Array.from(atob(packed.textContent.trim()), (c) => c.charCodeAt(0));
    packed.remove();
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
  }

  const cause = (cell, q) => data.causes[data.cause[cell][q]];
  const found = (cell, q) => cause(cell, q) === "found";
  const spoken = (name) => (name || "not asked").replaceAll("_", " ");
  const rank = (cell, q) => data.ranks[cell][q];
  const rankText = (n) => (n === 0 ? "–" : n > 999 ? "999+" : String(n));

  function state(cell, q) {
    if (found(cell, q)) return "all-read";
    return data.value[cell][q] > 0 ? "part-read" : "none-read";
  }

  function described(cell, q) {
    const at = rank(cell, q);
    return `${data.cells[cell]}: ${at ? `first relevant row ${at}` : "no relevant row"}, ${spoken(cause(cell, q))}`;
  }

  function search() {
    const { text, cell, cause: wanted, order } = Object.fromEntries(new FormData(form));
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const cells = cell === "" ? data.cells.map((_, i) => i) : [Number(cell)];
    const fits = (i, q) => (wanted === "missed" ? !found(i, q) : cause(i, q) === wanted);
    shown = [];
    for (let q = 0; q < data.ids.length; q++) {
      if (wanted && !cells.some((i) => fits(i, q))) continue;
      if (words.length && !words.every((word) => data.haystack[q].includes(word))) continue;
      shown.push(q);
    }
    if (order === "missed") shown.sort((a, b) => data.answered[a] - data.answered[b] || a - b);
    const half = data.cells.length / 2;
    if (order === "apart") shown.sort((a, b) => Math.abs(data.answered[a] - half) - Math.abs(data.answered[b] - half) || a - b);
    const [part, total] = [shown, data.ids].map((some) => some.length.toLocaleString("en"));
    count.textContent = `${part === total ? "" : `${part} of `}${total} question${data.ids.length === 1 ? "" : "s"}`;
    drawn = 0;
    list.replaceChildren();
    draw();
  }

  function draw() {
    const next = shown.slice(drawn, drawn + BATCH);
    drawn += next.length;
    list.append(...next.map(questionRow));
    more.hidden = drawn >= shown.length;
    more.textContent = `Show ${Math.min(BATCH, shown.length - drawn)} more`;
  }

  function questionRow(q) {
    const row = make("details", "q");
    row.dataset.q = data.ids[q];
    const words = make("span", "text", data.questions[q] ?? data.ids[q], make("span", "id", data.ids[q]));
    words.dir = "auto";
    const marks = make("span", "marks", ...data.cells.map((_, cell) => {
      const mark = make("span", `mark c${cell} ${state(cell, q)}`, rankText(rank(cell, q)));
      mark.title = described(cell, q);
      return mark;
    }));
    marks.setAttribute("role", "img");
    marks.setAttribute("aria-label", `Found by ${data.answered[q]} of ${data.cells.length} configurations`);
    row.append(make("summary", "", words, marks));
    row.addEventListener("toggle", () => {
      row.querySelector(".body")?.remove();
      if (row.open) row.append(body(q));
    });
    return row;
  }

  /* an opened question */
  function defaults(q) {
    const has = (cell) => cell < data.row.length;
    const asked = form.elements.cell.value;
    const chosen = asked === "" ? [0] : [...new Set([0, Number(asked)])];
    const other = data.cells.findIndex((_, cell) => has(cell) && found(cell, q) !== found(0, q));
    if (chosen.length < 2 && other > 0 && matchMedia("(min-width: 700px)").matches) chosen.push(other);
    return chosen.filter(has);
  }

  function body(q) {
    const box = make("div", "body");
    const fill = () => {
      const cells = picked ?? defaults(q);
      box.replaceChildren(...evidence(q, cells.find((cell) => touches(cell, q)) ?? cells[0]));
      if (!data.row.length) return;
      box.append(make("h4", "", "What came back"), choice(q, cells, (next) => { picked = next; fill(); }));
      box.append(make("div", "side", ...cells.map((cell) => column(cell, q))));
    };
    fill();
    return box;
  }

  function choice(q, cells, pick) {
    const some = make("div", "choose");
    some.setAttribute("role", "group");
    some.setAttribute("aria-label", "Configurations, side by side");
    data.row.forEach((_, cell) => {
      const button = make("button", `c${cell}`, make("i"), data.cells[cell], make("span", "rank", rankText(rank(cell, q))));
      button.type = "button";
      button.title = described(cell, q);
      button.dataset.cell = cell;
      button.setAttribute("aria-pressed", String(cells.includes(cell)));
      button.addEventListener("click", () => {
        const next = cells.includes(cell) ? cells.filter((c) => c !== cell) : [...cells, cell].slice(-MOST_COLUMNS);
        const place = some.closest(".body");
        pick(next);
        place.querySelector(`.choose [data-cell="${cell}"]`)?.focus();
      });
      some.append(button);
    });
    return some;
  }

  const places = (q) => data.evidence[q].flat();

  // Offsets count code points; JavaScript counts UTF-16 units, so texts with rarer signs are taken apart first.
  function signsOf(text) {
    if (!data.signs.has(text)) data.signs.set(text, /[\ud800-\udfff]/.test(text) ? Array.from(text) : text);
    return data.signs.get(text);
  }

  function pieceAt(doc, at) {
    for (const [first, text] of data.text[doc] ?? []) {
      const signs = signsOf(text);
      if (first <= at && at < first + signs.length) return { signs, first, end: first + signs.length };
    }
    return null;
  }

  function textOf(doc, start, end) {
    const piece = pieceAt(doc, start);
    const part = piece ? piece.signs.slice(start - piece.first, end - piece.first) : "";
    return typeof part === "string" ? part : part.join("");
  }

  function rowsOf(cell, q) {
    const width = data.rows + 1, flat = data.row[cell] ?? [], rows = [];
    for (let i = 0; i < width; i++) {
      const span = flat[q * width + i] ?? -1;
      if (span < 0) continue;
      const start = data.spans[1][span];
      rows.push({ rank: i < data.rows ? i + 1 : rank(cell, q), deep: i === data.rows, doc: data.spans[0][span], start, end: start + data.spans[2][span] });
    }
    return rows;
  }

  // A text that is cut begins with a whole word, where there is one.
  function wordStart(piece, low, before) {
    if (low === piece.first) return low;
    for (let at = low; at < Math.min(before, low + 40); at++) if (/\s/.test(piece.signs[at - piece.first])) return at + 1;
    return low;
  }

  function where(doc, start, end, lead) {
    const line = make("span", "place");
    if (lead) line.append(make("b", "", lead), " · ");
    line.append(make("bdi", "", data.docs[doc]), end < 0 ? " · whole document" : ` · ${start.toLocaleString("en")}–${end.toLocaleString("en")}`);
    return line;
  }

  // The text from low to high, cut at every border: evidence is marked, what the rows hold is underlined, and each row's ends are flagged.
  function excerpt(doc, low, high, marked, rows, cell) {
    const box = make("div", "excerpt");
    box.dir = "auto";
    const inside = (spans, a, b) => spans.some((s) => s.doc === doc && s.start <= a && b <= s.end);
    const borders = new Set([low, high]);
    for (const s of [...marked, ...rows]) if (s.doc === doc) for (const at of [s.start, s.end]) if (at > low && at < high) borders.add(at);
    const cuts = [...borders].sort((a, b) => a - b);
    for (let i = 0; i + 1 < cuts.length; i++) {
      const [a, b] = [cuts[i], cuts[i + 1]];
      for (const s of rows) if (s.doc === doc && s.start === a && a > low) box.append(edge(`row ${s.rank} begins`, cell));
      const text = textOf(doc, a, b);
      let part = inside(marked, a, b) ? make("mark", "", text) : text;
      if (inside(rows, a, b)) part = make("span", `read c${cell}`, part);
      box.append(part);
      for (const s of rows) if (s.doc === doc && s.end === b && b < high) box.append(edge(`row ${s.rank} ends`, cell));
    }
    return box;
  }

  function edge(words, cell) {
    return make("span", `edge c${cell}`, words);
  }

  const touches = (cell, q) => rowsOf(cell, q).some((r) => places(q).some(([doc, start, end]) => doc === r.doc && start < r.end && (end < 0 || r.start < end)));

  function evidence(q, cell) {
    const units = data.evidence[q].map((unit, i) => {
      const box = make("div", "unit evidence");
      unit.forEach(([doc, start, end], j) => {
        const lead = j ? "or as well" : data.evidence[q].length > 1 ? `Evidence ${i + 1}` : "Evidence";
        box.append(where(doc, start, end, lead));
        const piece = pieceAt(doc, start);
        if (!piece) return;
        const stop = end < 0 ? start + LONG : end;
        const low = wordStart(piece, Math.max(piece.first, start - CLOSE), start), high = Math.min(piece.end, stop + CLOSE);
        const text = excerpt(doc, low, high, end < 0 ? [] : [{ doc, start, end }], cell === undefined ? [] : rowsOf(cell, q), cell);
        if (low > 0) text.prepend("… ");
        text.append(" …");
        box.append(text);
      });
      return box;
    });
    return units.length ? units : [make("p", "place", "The evidence was not tracked.")];
  }

  function column(cell, q) {
    const box = make("div", `column c${cell}`);
    const value = data.value[cell][q];
    box.append(make("p", "", make("b", "", data.cells[cell]), ` · ${spoken(cause(cell, q))}${value < 0 ? "" : ` · ${value}%`}`));
    const rows = make("div", "rows");
    for (const row of rowsOf(cell, q)) {
      if (row.deep) rows.append(make("p", "gap", "further down, the first relevant row"));
      rows.append(returned(row, q, cell));
    }
    if (!rows.childNodes.length) rows.append(make("p", "gap", "Nothing came back."));
    box.append(rows);
    return box;
  }

  function returned(row, q, cell) {
    const marked = places(q).map(([doc, start, end]) => ({ doc, start, end: end < 0 ? Infinity : end }));
    const held = marked.filter((s) => s.doc === row.doc && s.start < row.end && row.start < s.end);
    const box = make("div", `row c${cell}${held.length ? " has" : ""}`);
    box.append(where(row.doc, row.start, row.end, `${row.rank}`));
    const spans = held.filter((s) => s.end !== Infinity);
    const piece = pieceAt(row.doc, spans.length ? Math.max(row.start, spans[0].start) : row.start);
    if (!piece) return box;
    const first = Math.max(row.start, piece.first), stop = Math.min(row.end, piece.end);
    const near = Math.max(first, Math.min(...spans.map((s) => s.start)) - CLOSE);
    const low = spans.length ? wordStart(piece, near, Math.max(first, spans[0].start)) : first;
    const high = Math.min(stop, spans.length ? Math.max(...spans.map((s) => s.end)) + CLOSE : first + CLOSE);
    const draw = (a, b) => {
      const text = excerpt(row.doc, a, b, spans, [], cell);
      if (a > row.start) text.prepend("… ");
      if (b < row.end) text.append(" …");
      return text;
    };
    const text = draw(low, high);
    box.append(text);
    if (low > first || high < stop) {
      const [size, all] = [stop - first, row.end - row.start].map((n) => n.toLocaleString("en"));
      const button = make("button", "whole", size === all ? `All of its ${all} characters` : `${size} of its ${all} characters`);
      button.type = "button";
      button.addEventListener("click", () => { text.replaceWith(draw(first, stop)); button.remove(); });
      box.append(button);
    }
    return box;
  }

  async function begin() {
    if (typeof DecompressionStream === "undefined") {
      count.textContent = "This browser is too old to unpack the questions; any of the last three years can.";
      return;
    }
    data = await unpack();
    data.signs = new Map();
    const docsOf = (q) => places(q).map(([doc]) => data.docs[doc]).join(" ");
    data.haystack = data.ids.map((id, q) => `${id} ${data.questions[q] ?? ""} ${docsOf(q)}`.toLowerCase());
    data.answered = data.ids.map((_, q) => data.cells.reduce((n, __, cell) => n + found(cell, q), 0));
    list.classList.toggle("many", data.cells.length > 16);
    form.hidden = false;
    form.addEventListener("input", search);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(search));
    more.addEventListener("click", draw);
    for (const part of document.querySelectorAll("a[data-cause]")) {
      part.addEventListener("click", () => {
        form.elements.cell.value = part.dataset.cell;
        form.elements.cause.value = part.dataset.cause;
        form.elements.text.value = "";
        search();
      });
    }
    search();
    root.dataset.ready = "true";
  }
  begin();
})();
