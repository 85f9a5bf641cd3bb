"use strict";
(() => {
  // The run that an address names is opened.
  const unfold = () => {
    const run = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!run) return;
    if (run.matches("details")) run.open = true;
    run.scrollIntoView();
    run.focus({ preventScroll: true });
  };
  addEventListener("hashchange", unfold);
  unfold();
})();
