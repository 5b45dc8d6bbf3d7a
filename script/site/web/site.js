// The search. The index is a script of its own, search.js, which is loaded when the field is first used: pages that are
// opened from a disk may load scripts and nothing else.
"use strict";
(() => {
  const MOST = 40;
  const root = document.documentElement.dataset.root;
  const form = document.querySelector("form[role=search]");
  const field = form.querySelector("input"), found = form.querySelector(".found");
  const status = found.querySelector("[role=status]"), list = found.querySelector("ul");
  let rows = null, loading = false;

  function load() {
    if (loading) return;
    loading = true;
    const script = document.createElement("script");
    script.src = root + "search.js";
    script.onload = () => {
      rows = window.lunagradIndex.map(([title, address, page, text]) => {
        const name = title.toLowerCase().split("(")[0];
        return {title, address, page, text, name, all: (title + " " + page + " " + text).toLowerCase()};
      });
      show();
    };
    script.onerror = () => { status.textContent = "The index of the search is missing."; };
    document.head.append(script);
  }

  // 0: the name ends with the query, as lg.softmax with softmax; 1: a part of it begins with the first word; 2: it contains all
  // words; 3: the text does. -1: not found.
  function rank(row, query, words) {
    if (!words.every((word) => row.all.includes(word))) return -1;
    const before = row.name[row.name.length - query.length - 1];
    if (row.name.endsWith(query) && (before === undefined || ".: ".includes(before))) return 0;
    if (!words.every((word) => row.name.includes(word))) return 3;
    return row.name.split(/[.: ]/).some((part) => part.startsWith(words[0])) ? 1 : 2;
  }

  function search(query) {
    const words = query.split(/\s+/).filter((word) => word);
    if (!words.length) return [];
    const ranks = [[], [], [], []];
    for (const row of rows) {
      const at = rank(row, query, words);
      if (at >= 0) ranks[at].push(row);
    }
    return ranks.flat();
  }

  function item(row, words) {
    const line = document.createElement("li"), link = document.createElement("a"), note = document.createElement("small");
    link.href = root + row.address;
    link.textContent = row.title;
    const text = row.text.replace(/\s+/g, " ").trim();
    const at = Math.max(text.toLowerCase().indexOf(words[0]) - 40, 0);
    note.textContent = (row.page === row.title ? "" : row.page + ": ") + text.slice(at, at + 160);
    link.append(note);
    line.append(link);
    return line;
  }

  function show() {
    const query = field.value.trim().toLowerCase();
    found.hidden = !query;
    if (!query) return;
    if (!rows) {
      status.textContent = "Loading the index";
      return;
    }
    const hits = search(query);
    status.textContent = hits.length > MOST ? `The first ${MOST} of ${hits.length} results`
      : hits.length === 1 ? "1 result" : `${hits.length} results`;
    list.replaceChildren(...hits.slice(0, MOST).map((row) => item(row, query.split(/\s+/))));
  }

  function close() {
    found.hidden = true;
  }

  field.addEventListener("focus", load);
  field.addEventListener("input", () => { load(); show(); });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = list.querySelector("a");
    if (!found.hidden && first) location.href = first.href;
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      close();
      field.focus();
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp" || found.hidden) return;
    const stops = [field, ...list.querySelectorAll("a")];
    const next = stops.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    if (next < 0 || next >= stops.length) return;
    event.preventDefault();
    stops[next].focus();
  });
  list.addEventListener("click", close);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea")) return;
    event.preventDefault();
    field.focus();
  });
  document.addEventListener("click", (event) => { if (!form.contains(event.target)) close(); });
  form.hidden = false;
})();
