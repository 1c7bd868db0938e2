// The map view: its layers, its gestures and keys, and what is selected.
class MapViewer {
  constructor(view, layers) {
    this.view = view;
    this.window = view.querySelector(".map-window");
    this.panel = view.querySelector("#map-panel");
    this.tip = view.querySelector(".map-tip");
    this.facts = new Map(Object.entries(layers).map(([id, layer]) => [id, mapFacts(layer)]));
    this.scene = new MapScene(view.querySelector(".map-drawing"));
    this.scenes = new Map([["source", this.scene]]);
    this.selected = null;
    this.pointers = new Map();
    this.layer = "source";
    this.hasAllColumns = false;
    this.showSwitches();
    this.showLegend();
    this.listen();
    this.measure();
    new ResizeObserver(() => this.measure()).observe(this.window);
    window.addEventListener("beforeprint", () => this.scene.showAll());
    window.addEventListener("afterprint", () => this.scene.transform());
  }

  find(selector) {
    return this.view.querySelector(selector);
  }

  get layerFacts() {
    return this.facts.get(this.layer);
  }

  // Layers

  // Drawings but the first are packed until they're asked for.
  async sceneOf(name) {
    if (!this.scenes.has(name)) {
      const parsed = new DOMParser().parseFromString(await unpacked(`map-${name}`), "text/html");
      this.scenes.set(name, new MapScene(document.adoptNode(parsed.querySelector("svg"))));
    }
    return this.scenes.get(name);
  }

  async draw(layer, hasAllColumns) {
    const name = hasAllColumns ? `${layer}-full` : layer;
    this.requested = name;
    const scene = await this.sceneOf(name);
    if (this.requested !== name) return;
    if (layer === this.layer) {
      for (const state of MAP_SWITCHED) scene.setShown(state, this.scene.shows(state));
    }
    this.scene.svg.replaceWith(scene.svg);
    Object.assign(this, { scene, layer, hasAllColumns });
    if (this.scene.boxes.has(this.selected)) this.select(this.selected, { centre: true });
    else this.clear();
    this.showSwitches();
    this.showLegend();
  }

  // Sizes are read here alone: when the window changes or the panel opens.
  measure() {
    this.size = { width: this.window.clientWidth, height: this.window.clientHeight };
    if (this.size.width && this.size.height) this.scene.resize(this.size.width, this.size.height);
  }

  showSwitches() {
    const columns = this.find("[data-map-columns]");
    columns.hidden = !document.getElementById(`map-${this.layer}-full`);
    columns.setAttribute("aria-pressed", String(this.hasAllColumns));
    for (const button of this.view.querySelectorAll("[data-map-state]")) {
      const state = button.dataset.mapState;
      const count = [...this.layerFacts.edges.values()].filter((edge) => edge.state === state).length;
      const label = { implied: "Implied", question: "Questions" }[state];
      button.hidden = !count;
      button.textContent = `${label} (${count.toLocaleString("en")})`;
      button.setAttribute("aria-pressed", String(this.scene.shows(state)));
    }
  }

  showLegend() {
    const kinds = new Set([...this.layerFacts.boxes.values()].map((box) => box.kind).filter(Boolean));
    const states = new Set([...this.layerFacts.edges.values()].map((edge) => edge.state));
    const labels = { business: "business vault", reference: "reference table" };
    const items = [...kinds].map((kind) => mapElement("li", {}, mapElement("span", { class: `map-swatch ${kind}` }), labels[kind] ?? kind));
    const lines = { sound: "relationship", broken: "relationship with orphans", implied: "implied by other relationships", question: "open question" };
    for (const [state, label] of Object.entries(lines)) {
      if (states.has(state)) items.push(mapElement("li", {}, mapElement("span", { class: `map-stroke ${state}` }), label));
    }
    this.find("[data-map-kinds]").replaceChildren(...items);
  }

  async goTo(table) {
    const source = this.find("input[value=source]");
    source.checked = true;
    if (this.layer !== "source") await this.draw("source", false);
    this.select(table, { centre: true });
  }

  // What is selected

  select(id, { centre = false } = {}) {
    const box = this.scene.boxes.get(id);
    if (!box) return;
    this.selected = id;
    this.scene.highlightBox(box);
    this.scene.setStop(box);
    this.openPanel(mapBoxPanel(this.layerFacts, this.layerFacts.boxes.get(id)));
    if (centre) this.scene.centre(box);
    else this.scene.reveal(box);
  }

  selectLine(line) {
    this.selected = null;
    this.scene.highlightLine(line);
    this.openPanel(mapLinePanel(this.layerFacts, this.layerFacts.edges.get(line.id)));
  }

  clear() {
    this.selected = null;
    this.scene.highlight([], []);
    this.panel.hidden = true;
    this.measure();
    this.find("[data-map-list]").setAttribute("aria-pressed", "false");
  }

  openPanel(children) {
    this.panel.replaceChildren(...children);
    this.panel.scrollTop = 0;
    this.panel.hidden = false;
    this.measure();
    this.find("[data-map-list]").setAttribute("aria-pressed", "false");
    announce(this.panel.querySelector("h3").textContent);
  }

  // Events

  listen() {
    this.view.addEventListener("click", (event) => this.click(event));
    this.view.addEventListener("change", (event) => {
      if (event.target.name === "map-layer") this.draw(event.target.value, false);
    });
    this.view.addEventListener("keydown", (event) => this.press(event));
    this.window.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.window.addEventListener("pointerdown", (event) => this.pointerDown(event));
    this.window.addEventListener("pointermove", (event) => this.pointerMove(event));
    for (const name of ["pointerup", "pointercancel"]) this.window.addEventListener(name, (event) => this.pointerUp(event));
    this.window.addEventListener("pointerleave", () => this.showTip(null));
    new MapSearch(this.find("#map-query"), this.find("#map-suggestions"), () => this.layerFacts, (id) => this.select(id, { centre: true }));
  }

  click(event) {
    const target = event.target.closest("button, summary, .box, .map-legend, .map-window") ?? event.target;
    const { mapZoom, mapState, mapBox } = target.dataset;
    if (mapZoom === "fit") this.scene.fit();
    else if (mapZoom) this.scene.zoom(mapZoom === "in" ? 1.4 : 1 / 1.4, undefined, { animate: true });
    else if (mapState) this.toggleState(mapState);
    else if ("mapColumns" in target.dataset) this.toggleColumns();
    else if ("mapList" in target.dataset) this.toggleList(target);
    else if ("mapClose" in target.dataset) this.closePanel();
    else if (mapBox) this.select(mapBox, { centre: true });
    else if (this.hasDragged) this.hasDragged = false;
    else if (target.classList.contains("box")) this.select(target.dataset.id);
    else if (target === this.window) this.clickGround(event);
  }

  clickGround(event) {
    const line = this.scene.lineAt(this.place(event));
    if (line) this.selectLine(line);
    else this.clear();
  }

  toggleState(state) {
    this.scene.setShown(state, !this.scene.shows(state));
    this.showSwitches();
    if (this.selected) this.scene.highlightBox(this.scene.boxes.get(this.selected));
  }

  toggleColumns() {
    this.draw(this.layer, !this.hasAllColumns);
  }

  toggleList(button) {
    const isOpen = button.getAttribute("aria-pressed") === "true";
    this.clear();
    if (isOpen) return;
    this.openPanel(mapListPanel(this.layerFacts, this.scene.svg.getAttribute("aria-label")));
    button.setAttribute("aria-pressed", "true");
    this.panel.focus();
  }

  closePanel() {
    const focusGoes = this.panel.contains(document.activeElement);
    this.clear();
    if (focusGoes) this.scene.stop.frame.focus({ preventScroll: true });
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const box = event.target.closest(".box");
    if (event.key === "Escape") this.closePanel();
    else if (event.target.matches("input")) return;
    else if (box && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      this.select(box.dataset.id);
    } else if (event.key === "+" || event.key === "=") this.scene.zoom(1.4, undefined, { animate: true });
    else if (event.key === "-") this.scene.zoom(1 / 1.4, undefined, { animate: true });
    else if (event.key === "0") this.scene.fit();
    else if (box && event.key.startsWith("Arrow")) this.walk(event, box.dataset.id);
  }

  walk(event, id) {
    event.preventDefault();
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const next = this.scene.neighbour(this.scene.boxes.get(id), dx, dy);
    if (!next) return;
    this.scene.setStop(next);
    next.frame.focus({ preventScroll: true });
    this.scene.bring(next, this.scene.scale);
  }

  place(event) {
    const { left, top } = this.window.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }

  wheel(event) {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode ? 16 : 1);
    // A pinch on a touchpad comes as a wheel with Ctrl, in smaller steps.
    this.scene.zoom(Math.exp(-pixels * (event.ctrlKey ? 0.01 : 0.0015)), this.place(event));
  }

  pointerDown(event) {
    if (event.button || event.target.closest("button, details")) return;
    this.pointers.set(event.pointerId, this.place(event));
    this.hasDragged = false;
    this.origin = this.place(event);
  }

  pointerMove(event) {
    // A button may be released outside of the window, which nobody hears of.
    if (!event.buttons) this.pointerUp(event);
    const before = this.pointers.get(event.pointerId);
    if (!before) return this.hover(event);
    const now = this.place(event);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
    if (others.length) this.pinch(before, now, others[0][1]);
    else if (this.hasDragged || Math.hypot(now.x - this.origin.x, now.y - this.origin.y) > 4) {
      // Captured only once it's a drag, because a captured click would miss its box.
      if (!this.hasDragged) this.window.setPointerCapture(event.pointerId);
      this.hasDragged = true;
      this.window.classList.add("dragged");
      this.showTip(null);
      this.scene.pan(now.x - before.x, now.y - before.y);
    } else return;
    this.pointers.set(event.pointerId, now);
  }

  pinch(before, now, other) {
    this.hasDragged = true;
    const distance = (point) => Math.max(1, Math.hypot(point.x - other.x, point.y - other.y));
    const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
    this.scene.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
    this.scene.zoom(distance(now) / distance(before), middle);
  }

  pointerUp(event) {
    this.pointers.delete(event.pointerId);
    this.window.classList.remove("dragged");
  }

  // At most once a frame: a mouse reports more often.
  hover(event) {
    this.hovered = event;
    this.hoverFrame ??= requestAnimationFrame(() => {
      this.hoverFrame = undefined;
      const isOnGround = !this.hovered.target.closest("button, details, .box");
      const point = this.place(this.hovered);
      this.showTip(isOnGround ? this.scene.lineAt(point) : null, point);
    });
  }

  showTip(line, point) {
    if (this.tipLine !== line) {
      this.tipLine?.element.classList.remove("hovered");
      line?.element.classList.add("hovered");
      this.window.classList.toggle("on-line", line !== null);
      this.tipLine = line;
      this.tip.hidden = !line;
      if (line) this.tip.textContent = this.tipText(this.layerFacts.edges.get(line.id));
    }
    if (!line) return;
    const isRight = point.x > this.size.width / 2;
    this.tip.style.setProperty("left", isRight ? "auto" : `${point.x + 14}px`);
    this.tip.style.setProperty("right", isRight ? `${this.size.width - point.x + 14}px` : "auto");
    this.tip.style.setProperty("top", `${Math.min(point.y + 14, this.size.height - 64)}px`);
  }

  tipText(edge) {
    const names = [edge.child, edge.parent].map((id) => this.layerFacts.boxes.get(id).name);
    return edge.text || names.join(" → ");
  }
}

// A link with data-map-table leads to a table on the map.
let mapViewer = null;
let mapRequested = "";

function showOnMap() {
  if (!mapViewer || !mapRequested) return;
  mapViewer.goTo(mapRequested);
  mapRequested = "";
}

onShow("map", async (view) => {
  mapViewer = new MapViewer(view, JSON.parse(await unpacked("map-facts")));
  showOnMap();
});
document.addEventListener("click", (event) => {
  mapRequested = event.target.closest("[data-map-table]")?.dataset.mapTable ?? "";
});
window.addEventListener("hashchange", () => requestAnimationFrame(showOnMap));

