"use strict";
// Steps through the run. All text goes in as text; nothing here makes HTML out of it.
// What a run listens for ends when another is picked.
const open = (number, asked, ending) => {
  const run = JSON.parse(document.getElementById("run").textContent);
  const byId = (id) => document.getElementById(id);
  const count = run.steps.length;
  // The most states that are shown unasked.
  const FEW = 40;
  let current = -1;
  let all = false;
  // The link in the list of faults by which the reader came to the steps.
  let jumpedFrom = null;

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const row = (index) => byId("s" + (index + 1));
  const place = (index) => {
    const line = run.steps[index].line;
    return line === undefined ? "" : "line " + line;
  };
  const who = (step) => {
    const from = run.participants[step.from];
    return step.to === null || step.to === step.from ? from : from + " to " + run.participants[step.to];
  };

  // A clause, with a way to what it says if the page tells that.
  const clause = (id) => {
    const known = byId("clause-" + id);
    const made = element(known ? "a" : "span", id, "clause");
    if (known) made.href = "#clause-" + id;
    return made;
  };

  // The state of each track after a step, with the step of its last change.
  const statesAfter = (index) => {
    const states = new Map();
    for (let at = 0; at <= index; at++) {
      for (const change of run.steps[at].states) {
        states.set(change.track, { state: change.after, before: change.before, at });
      }
    }
    return states;
  };

  const showStates = () => {
    const states = [...statesAfter(current)];
    const changed = (entry) => entry[1].at === current;
    let shown = states;
    if (!all && states.length > FEW) {
      shown = [...states].sort((a, b) => b[1].at - a[1].at).slice(0, FEW);
    }
    const rows = shown.map((entry) => {
      const [track, state] = entry;
      const line = element("tr", "", changed(entry) ? "changed" : "");
      const name = element("th", run.tracks[track].name);
      name.scope = "row";
      if (run.tracks[track].about) name.append(element("span", run.tracks[track].about, "about"));
      const was = changed(entry) && state.before ? " (was " + state.before + ")" : "";
      line.append(name, element("td", state.state + was));
      return line;
    });
    if (rows.length === 0) {
      const line = element("tr");
      line.append(element("td", "None so far", "faint"));
      rows.push(line);
    }
    byId("states").tBodies[0].replaceChildren(...rows);
    const button = byId("all");
    button.hidden = all || states.length <= FEW;
    button.textContent = "Show all " + states.length;
  };

  const showFindings = (step) => {
    const items = step.findings.map((index) => {
      const finding = run.findings[index];
      const item = element("li", "", finding.weight);
      const head = element("p");
      if (finding.clause) head.append(clause(finding.clause), " ");
      if (finding.level) head.append(element("span", finding.level, "badge " + finding.weight));
      item.append(head, element("p", finding.message));
      if (finding.gist) item.append(element("p", finding.gist, "faint"));
      if (finding.also.length) {
        const also = element("p", "The same fault breaks ", "faint");
        finding.also.forEach((id, index) => also.append(index ? ", " : "", clause(id)));
        item.append(also);
      }
      return item;
    });
    byId("wrong").replaceChildren(...items);
  };

  // What became of the first few of the things that have a state, to be heard with the step.
  const changes = (step) => {
    const heard = step.states.slice(0, 3).map((change) => {
      const before = change.before ? change.before + " → " : "";
      return ". " + run.tracks[change.track].name + ": " + before + change.after;
    });
    return heard.join("") + (step.states.length > 3 ? ". And " + (step.states.length - 3) + " more" : "");
  };

  // What is wrong with a step, to be heard with it.
  const faults = (step) => {
    const heard = step.findings.map((index) => {
      const { weight, clause } = run.findings[index];
      return weight[0].toUpperCase() + weight.slice(1) + " " + clause;
    });
    return heard.map((fault) => ". " + fault).join("");
  };

  // Rows that were out of view take their true height only when they come near, which moves what is below them.
  let pending;
  const bringIntoView = (again = 3) => {
    // Not by scrollIntoView, behind which some browsers let the tabulator go on.
    const { top, bottom } = row(current).getBoundingClientRect();
    const { scrollMarginTop, scrollMarginBottom } = getComputedStyle(row(current));
    const kept = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
    const above = top - parseFloat(scrollMarginTop) - kept;
    const below = bottom + parseFloat(scrollMarginBottom) - innerHeight;
    scrollBy(0, above < 0 ? above : Math.min(above, Math.max(below, 0)));
    if (again > 0) pending = requestAnimationFrame(() => bringIntoView(again - 1));
  };

  const keepInAddress = () => {
    try {
      history.replaceState(null, "", "#" + (number > 1 ? "r" + number : "") + "s" + (current + 1));
    } catch {
      // Browsers limit how often it may be called; the address then lags behind.
    }
  };

  const select = (index, { scroll = true, keep = true } = {}) => {
    index = Math.max(0, Math.min(count - 1, index));
    if (index === current) {
      if (keep) keepInAddress();
      return;
    }
    if (current >= 0) {
      row(current).removeAttribute("aria-current");
      row(current).querySelector("a").tabIndex = -1;
    }
    current = index;
    const step = run.steps[index];
    row(index).setAttribute("aria-current", "step");
    row(index).querySelector("a").tabIndex = 0;
    if (scroll) bringIntoView();
    byId("now").textContent = "Step " + (index + 1) + " of " + count;
    byId("said").textContent = who(step) + ": " + step.text + changes(step) + faults(step);
    byId("place").textContent = [place(index), step.at].filter(Boolean).join(", ");
    showFindings(step);
    showStates();
    byId("notes").replaceChildren(...step.notes.map((note) => element("li", note)));
    byId("extra").hidden = step.notes.length === 0;
    byId("record").hidden = !step.record;
    byId("record").querySelector("pre").textContent = step.record || "";
    byId("first").disabled = byId("back").disabled = index === 0;
    byId("last").disabled = byId("next").disabled = index === count - 1;
    if (keep) keepInAddress();
  };

  // The step of the next fault, and after the last of them the first again.
  const nextFault = () => {
    const steps = run.findings.map((finding) => finding.step);
    select(steps.find((step) => step > current) ?? steps[0]);
  };

  const bind = (id, action) => {
    if (byId(id)) byId(id).addEventListener("click", action);
  };
  bind("first", () => select(0));
  bind("back", () => select(current - 1));
  bind("next", () => select(current + 1));
  bind("last", () => select(count - 1));
  bind("fault", nextFault);
  bind("all", () => {
    all = true;
    showStates();
  });
  bind("as-table", () => {
    const plain = document.querySelector("table.run").classList.toggle("plain");
    byId("as-table").setAttribute("aria-pressed", String(plain));
  });

  byId("faults").addEventListener("click", (event) => {
    const jump = event.target.closest("a.jump");
    if (!jump) return;
    event.preventDefault();
    select(Number(jump.dataset.step));
    jumpedFrom = jump;
    row(current).querySelector("a").focus({ preventScroll: true });
  });
  document.querySelector("table.run").addEventListener("click", (event) => {
    const line = event.target.closest("tr[id]");
    if (!line) return;
    event.preventDefault();
    select(Number(line.id.slice(1)) - 1, { scroll: false });
  });

  document.addEventListener("keydown", (event) => {
    // The reader has moved on.
    cancelAnimationFrame(pending);
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    // A record that scrolls needs its arrow keys itself.
    if (event.target.closest("pre, input, select, textarea")) return;
    const inSteps = event.target.closest("table.run");
    if (event.key === "Escape" && inSteps && jumpedFrom) {
      event.preventDefault();
      jumpedFrom.focus();
      return;
    }
    const moves = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: count - 1 };
    if (inSteps) Object.assign(moves, { ArrowUp: current - 1, ArrowDown: current + 1 });
    if (!(event.key in moves)) return;
    event.preventDefault();
    select(moves[event.key]);
    if (inSteps) row(current).querySelector("a").focus({ preventScroll: true });
  }, { signal: ending });

  // Of a step that was asked for, or else the first fault, the gravest if there are graver ones.
  const gravest = run.findings.find((finding) => finding.weight === "violation") ?? run.findings[0];
  const panel = byId("panel");
  panel.hidden = false;
  // On a narrow page the heads of the lanes stay below it.
  const makeRoom = () => document.documentElement.style.setProperty("--panel", panel.offsetHeight + "px");
  const watch = new ResizeObserver(makeRoom);
  watch.observe(panel);
  ending?.addEventListener("abort", () => watch.disconnect());
  makeRoom();
  // The address stays as it is until the reader moves, or the browser would scroll to the first step.
  const first = asked ?? gravest?.step ?? 0;
  select(first, { scroll: first > 0, keep: false });
};
(() => {
  const [, inAddress, step] = /^#(?:r(\d+))?s(\d+)$/.exec(location.hash) ?? [];
  const asked = step === undefined ? null : Number(step) - 1;
  const runs = document.getElementById("runs");
  if (!runs) {
    open(1, asked, undefined);
    return;
  }
  let ending = new AbortController();
  const pick = (number, asked) => {
    ending.abort();
    ending = new AbortController();
    const run = document.getElementById("run-" + number);
    document.getElementById("shown").replaceChildren(run.content.cloneNode(true));
    runs.value = number;
    document.querySelector("nav.runs label").textContent = "Run " + number + " of " + runs.length;
    open(number, asked, ending.signal);
  };
  runs.hidden = false;
  const shown = Number(runs.value);
  const wanted = Number(inAddress ?? (asked === null ? shown : 1));
  if (wanted !== shown && document.getElementById("run-" + wanted)) pick(wanted, asked);
  else open(shown, asked, ending.signal);
  runs.addEventListener("change", () => pick(Number(runs.value), null));
})();
