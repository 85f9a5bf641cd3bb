"use strict";
// Hides the clauses that do not fit the filter.
(() => {
  const byId = (id) => document.getElementById(id);
  const rows = [...document.querySelectorAll(".clauses tbody tr")].map((row) => ({
    row,
    words: row.textContent.toLowerCase(),
    level: row.dataset.level,
    kinds: row.dataset.kinds,
    document: row.closest("section").id,
  }));
  const sections = [...document.querySelectorAll("section.document")];

  const fits = (evidence, kinds) => {
    if (evidence === "") return true;
    if (evidence === "open") return kinds === "";
    if (evidence === "exception") return kinds.includes("x");
    return kinds.includes(evidence[1]) === (evidence[0] === "+");
  };

  const apply = () => {
    const words = byId("words").value.toLowerCase().split(/\s+/).filter(Boolean);
    const [level, within, evidence] = ["level", "document", "evidence"].map((id) => byId(id).value);
    let shown = 0;
    for (const { row, words: own, level: ownLevel, kinds, document: ownDocument } of rows) {
      const show =
        words.every((word) => own.includes(word)) &&
        (level === "" || level === ownLevel) &&
        (within === "" || within === ownDocument) &&
        fits(evidence, kinds);
      row.hidden = !show;
      if (show) shown++;
    }
    for (const section of sections) {
      section.hidden = !section.querySelector("tbody tr:not([hidden])");
    }
    byId("shown").textContent = shown === rows.length ? "All " + shown + " clauses" : shown + " of " + rows.length + " clauses";
  };

  const form = byId("filter");
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  apply();
})();
