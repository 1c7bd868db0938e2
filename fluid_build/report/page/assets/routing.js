"use strict";

// Which view and which panel of it is shown: the page's address says so, so that links, back and
// forward work. Other files call onShow to draw a view when it's first needed.
const root = document.documentElement;
root.classList.add("scripted");
const status = document.getElementById("status");
const firstShown = new Map();

function onShow(view, draw) {
  firstShown.set(view, draw);
}

function announce(text) {
  status.textContent = text;
}

function activate(view, panel) {
  for (const each of document.querySelectorAll(".view")) each.classList.toggle("active", each === view);
  for (const tab of document.querySelectorAll("[data-tab]")) {
    if (tab.dataset.tab === view.id) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  if (panel) for (const each of view.querySelectorAll(".panel.active")) each.classList.remove("active");
  panel?.classList.add("active");
  const draw = firstShown.get(view.id);
  firstShown.delete(view.id);
  draw?.(view);
}

function show(target, { focus }) {
  const view = target.closest(".view");
  const panel = target.closest(".panel") ?? view.querySelector(".panel");
  activate(view, panel);
  if (target !== view && target !== panel) return showPart(target);
  if (!focus) return;
  const heading = (panel ?? view).querySelector("h2, h3");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

// What an address leads to may be folded, as a column of a table is.
function showPart(target) {
  const details = target.querySelector(":scope > details") ?? target.closest("details");
  if (details) details.open = true;
  details?.querySelector("summary").focus({ preventScroll: true });
  target.scrollIntoView();
}

// What an address names may be in a panel that isn't unpacked yet: table-7-2 is in table-7.
async function addressed(id) {
  const panel = document.getElementById(id)?.closest(".panel") ?? document.getElementById(id.replace(/-\d+$/, ""));
  if (panel?.dataset.pack) await fillPanel(panel);
  const target = document.getElementById(id) ?? panel;
  return target?.closest(".view") ? target : document.querySelector(".view");
}

// Somebody may have typed an address that can't be decoded: no id is like it.
function decodedAddress(address) {
  try {
    return decodeURIComponent(address);
  } catch {
    return "";
  }
}

async function showAddress({ focus }) {
  const hash = location.hash;
  const id = decodedAddress(hash.slice(1));
  if (id === "main") return;
  const target = await addressed(id);
  if (hash === location.hash) show(target, { focus });
}

window.addEventListener("hashchange", () => showAddress({ focus: true }));
document.addEventListener("DOMContentLoaded", async () => {
  await showAddress({ focus: false });
  performance.mark("interactive");
});
