"use strict";
// Opens what an address leads to, keeps the heads of tables below the filter, and hides the clauses that do not fit it.
(() => {
  const byId = (id) => document.getElementById(id);
  const form = byId("filter");

  // What lies folded behind or around the place that an address names is opened.
  const unfold = () => {
    const place = byId(decodeURIComponent(location.hash.slice(1)));
    if (!place) return;
    if (form && place.hidden) form.reset();
    if (form) apply();
    for (let around = place.parentElement; around; around = around.parentElement) {
      if (around.matches("details")) around.open = true;
    }
    if (place.matches("tr[data-kinds]")) {
      for (const details of place.querySelectorAll("details")) details.open = true;
    }
    place.scrollIntoView();
  };

  let apply = () => {};
  if (form) {
    const rows = [...document.querySelectorAll(".clauses tbody tr")].map((row) => ({
      row,
      words: row.textContent.toLowerCase(),
      document: row.closest("section").id,
      ...row.dataset,
    }));
    const sections = [...document.querySelectorAll("section.document")].filter((section) => section.querySelector(".clauses"));

    const fits = (known, kinds) => {
      if (known === "") return true;
      if (known === "exception") return kinds.includes("x");
      return kinds.includes(known[1]) === (known[0] === "+");
    };

    apply = () => {
      const words = byId("words").value.toLowerCase().split(/\s+/).filter(Boolean);
      const [level, within, known, found, state] = ["level", "document", "known", "found", "state"].map((id) => byId(id)?.value ?? "");
      let shown = 0;
      for (const own of rows) {
        const show =
          words.every((word) => own.words.includes(word)) &&
          (level === "" || level === own.level) &&
          (within === "" || within === own.document) &&
          (found === "" || found === own.found || (found === "some" && own.found === "harm")) &&
          (state === "" || state === own.state) &&
          fits(known, own.kinds);
        own.row.hidden = !show;
        if (show) shown++;
      }
      for (const section of sections) {
        section.hidden = !section.querySelector("tbody tr:not([hidden])");
      }
      byId("shown").textContent = shown === rows.length ? "All " + shown + " clauses" : shown + " of " + rows.length + " clauses";
    };

    form.hidden = false;
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(apply));
    apply();
    // The filter is as high as its controls need.
    const measure = () => {
      const isSticky = getComputedStyle(form).position === "sticky";
      document.documentElement.style.setProperty("--above", (isSticky ? form.offsetHeight : 0) + "px");
    };
    new ResizeObserver(measure).observe(form);
    measure();
  }
  addEventListener("hashchange", unfold);
  unfold();
})();
