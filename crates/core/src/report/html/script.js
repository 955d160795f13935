"use strict";
// The page is complete without this script. It adds filters, copy buttons, values under the pointer, the choice of
// colours, and, where `dissent serve` serves the page, fresh figures.
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);

  // Colours: those of the system until the reader chooses.
  const themeButton = one("#theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const nameTheme = () => { themeButton.textContent = isDark() ? "Light colours" : "Dark colours"; };
  const kept = (change) => { try { return change(localStorage); } catch { return null; } };
  const chosen = kept((storage) => storage.getItem("dissent-theme"));
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  themeButton.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    kept((storage) => storage.setItem("dissent-theme", root.dataset.theme));
    nameTheme();
  });
  dark.addEventListener("change", nameTheme);
  nameTheme();

  // Filters. They are read from the form each time, so they outlive whatever the list does.
  const form = one("#filters");
  const bugs = () => all("#bugs > .bug");
  const filter = () => {
    if (!form) return;
    const words = form.elements.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = all("select", form).filter((select) => select.value !== "");
    let shown = 0;
    for (const bug of bugs()) {
      const text = words.length ? bug.textContent.toLowerCase() : "";
      const fits = wanted.every((select) => bug.dataset[select.name] === select.value)
        && words.every((word) => text.includes(word));
      bug.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    const count = bugs().length;
    form.elements.shown.value = shown === count ? `${count} ${count === 1 ? "bug" : "bugs"}` : `${shown} of ${count} bugs`;
    one("#none").hidden = shown > 0 || count === 0;
  };
  form?.addEventListener("input", filter);
  form?.addEventListener("submit", (event) => event.preventDefault());
  form?.addEventListener("reset", () => setTimeout(filter));
  addEventListener("pageshow", filter);

  // A link to a bug opens it.
  const openTarget = () => {
    const bug = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (bug?.classList.contains("bug")) one("details", bug).open = true;
  };
  addEventListener("hashchange", openTarget);
  openTarget();

  // Copying. Where the clipboard is closed to scripts, the text is selected for the reader to copy.
  const copy = async (button) => {
    const source = document.getElementById(button.dataset.copy);
    let label = "Copied";
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch {
      source.closest("details")?.setAttribute("open", "");
      getSelection().selectAllChildren(source);
      if (!document.execCommand("copy")) label = "Press Ctrl+C";
    }
    const before = button.dataset.label ??= button.textContent;
    button.textContent = label;
    button.classList.add("done");
    setTimeout(() => { button.textContent = before; button.classList.remove("done"); }, 1600);
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-copy]");
    if (button) copy(button);
  });

  // Charts: the value under the pointer, or at the place that the arrow keys have reached.
  const pointsOf = (svg) => svg.points ??= svg.dataset.points.split(" ").map((point) => {
    const [x, y, ...text] = point.split("|");
    return { x: Number(x), y: Number(y), text: text.join(" ").replaceAll("_", " ") };
  });
  const show = (svg, at) => {
    const points = pointsOf(svg);
    if (!points.length) return;
    svg.at = Math.max(0, Math.min(points.length - 1, at));
    const { x, y, text } = points[svg.at];
    const [cursor, dot] = [one(".cursor", svg), one(".dot", svg)];
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    dot.setAttribute("cx", x);
    dot.setAttribute("cy", y);
    one(".hover", svg).removeAttribute("visibility");
    one(".readout", svg.closest("figure")).textContent = text;
  };
  const hide = (svg) => {
    one(".hover", svg).setAttribute("visibility", "hidden");
    const readout = one(".readout", svg.closest("figure"));
    readout.textContent = readout.dataset.last;
  };
  const chartOf = (event) => event.target.closest?.("svg[data-points]");
  document.addEventListener("pointermove", (event) => {
    const svg = chartOf(event);
    if (!svg) return;
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
    const points = pointsOf(svg);
    show(svg, points.reduce((best, point, at) => Math.abs(point.x - x) < Math.abs(points[best].x - x) ? at : best, 0));
  });
  document.addEventListener("pointerout", (event) => { const svg = chartOf(event); if (svg) hide(svg); });
  document.addEventListener("focusout", (event) => { const svg = chartOf(event); if (svg) hide(svg); });
  document.addEventListener("keydown", (event) => {
    const svg = chartOf(event);
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (svg && step) { show(svg, (svg.at ?? pointsOf(svg).length) + step); event.preventDefault(); }
  });

  // On paper everything is open.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all(".bug > details:not([open])");
    closed.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((details) => { details.open = false; }));

  // Fresh figures: the page is asked for again, and what changed takes its place. What is open, filtered or scrolled to
  // stays as it is.
  const refreshSelect = (select, fresh) => {
    if (select.innerHTML === fresh.innerHTML) return;
    const value = select.value;
    select.replaceChildren(...fresh.cloneNode(true).children);
    select.value = value;
    if (select.selectedIndex < 0) select.value = "";
  };
  const refreshBugs = (list, fresh) => {
    const old = new Map(bugs().map((bug) => [bug.id, bug]));
    const next = all(":scope > .bug", fresh).map((bug) => {
      const before = old.get(bug.id);
      if (before?.dataset.version === bug.dataset.version) return before;
      const bugNow = document.importNode(bug, true);
      if (before) one("details", bugNow).open = one("details", before).open;
      return bugNow;
    });
    const same = next.length === list.children.length && next.every((bug, at) => bug === list.children[at]);
    if (!same) list.replaceChildren(...next);
  };
  const refresh = (text) => {
    const fresh = new DOMParser().parseFromString(text, "text/html");
    for (const part of all("[data-part]")) {
      const next = one(`[data-part="${CSS.escape(part.dataset.part)}"]`, fresh);
      if (next && next.innerHTML !== part.innerHTML) part.replaceWith(document.importNode(next, true));
    }
    const list = one("#bugs");
    const freshList = one("#bugs", fresh);
    if (list && freshList) refreshBugs(list, freshList);
    if (form && one("#filters", fresh)) {
      all("select", form).forEach((select) => refreshSelect(select, one(`#filters [name="${select.name}"]`, fresh)));
    }
    document.title = fresh.title;
    filter();
  };
  const live = one("#live");
  if (live) {
    let tag = "";
    const poll = async () => {
      try {
        const answer = await fetch(location.pathname, { cache: "no-store", headers: tag ? { "If-None-Match": tag } : {} });
        if (answer.status === 200) {
          tag = answer.headers.get("ETag") ?? "";
          refresh(await answer.text());
        }
        live.textContent = "live";
        live.className = "tag good live";
      } catch {
        live.textContent = "lost the server, retrying";
        live.className = "tag warn live";
      }
      setTimeout(poll, 2000);
    };
    setTimeout(poll, 2000);
  }
})();
