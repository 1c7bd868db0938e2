// A drawing of the map and the window on it: where it is, how large, and what is highlighted.
//
// The drawing's viewBox shows all of it, which is what a printer and a page without scripts need.
// A scene transforms the SVG element as a whole: a transformed group inside would have the browser
// lay out all text again whenever the scale changes. `scale`, `x` and `y` take a point of the
// drawing to pixels of the window; the viewBox' own part of that is taken out in `transform`.
const MAP_GREATEST_SCALE = 2.5;
// Below the first scale columns can't be read and titles grow; below the second neither can titles.
const MAP_NEAR = 0.6;
const MAP_FAR = 0.16;
const MAP_MARGIN = 24;
// The legend and the buttons are at the bottom.
const MAP_FOOT = 56;
const MAP_NARROW = 600;
// From this many boxes and lines on, those outside of the window aren't drawn.
const MAP_MANY_PARTS = 300;
const MAP_SWITCHED = ["implied", "question"];
const mapMotion = window.matchMedia("(prefers-reduced-motion: reduce)");

function mapNumbers(text) {
  return (text.match(/-?[\d.]+/g) ?? []).map(Number);
}

function mapExtent(points) {
  const [xs, ys] = [points.filter((_, n) => n % 2 === 0), points.filter((_, n) => n % 2 === 1)];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

function mapBounds(boxes) {
  const [x, y] = ["x", "y"].map((name) => Math.min(...boxes.map((box) => box[name])));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}

class MapScene {
  constructor(svg) {
    this.svg = svg;
    [, , this.width, this.height] = mapNumbers(svg.getAttribute("viewBox"));
    this.window = { width: 0, height: 0 };
    this.boxes = new Map();
    for (const element of svg.querySelectorAll(".box")) {
      const [x, y] = mapNumbers(element.getAttribute("transform"));
      const frame = element.querySelector(".frame");
      const [width, height] = ["width", "height"].map((name) => Number(frame.getAttribute(name)));
      this.boxes.set(element.dataset.id, { id: element.dataset.id, element, frame, x, y, width, height, lines: [] });
    }
    this.lines = [...svg.querySelectorAll(".edge")].map((path) => {
      const { id, child, parent } = path.dataset;
      const points = mapNumbers(path.getAttribute("d"));
      const line = { id, child, parent, points, element: path.parentElement, ...mapExtent(points) };
      this.boxes.get(child).lines.push(line);
      if (parent !== child) this.boxes.get(parent).lines.push(line);
      return line;
    });
    this.names = [...svg.querySelectorAll(".region text, .landmarks text")];
    this.marked = [];
    const parts = [...this.boxes.values(), ...this.lines];
    this.culled = parts.length > MAP_MANY_PARTS ? parts : [];
    svg.classList.toggle("large", this.culled.length > 0);
    this.stop = this.boxes.values().next().value;
  }

  resize(width, height) {
    const isFirst = !this.window.width;
    this.window = { width, height };
    if (isFirst) this.begin();
    else this.transform();
  }

  // A narrow window begins at the most connected box, as all of them would be too small there.
  begin() {
    const boxes = [...this.boxes.values()];
    const centre = boxes.reduce((most, box) => (box.lines.length > most.lines.length ? box : most), boxes[0]);
    if (this.window.width >= MAP_NARROW || !centre) this.fit({ animate: false });
    else this.centre(centre, Math.max(this.fitScale, 0.5), { animate: false });
  }

  get fitScale() {
    const { width, height } = this.window;
    return Math.min((width - 2 * MAP_MARGIN) / this.width, (height - MAP_MARGIN - MAP_FOOT) / this.height, 1);
  }

  fit({ animate = true } = {}) {
    const scale = this.fitScale;
    const x = (this.window.width - this.width * scale) / 2;
    const y = (this.window.height + MAP_MARGIN - MAP_FOOT - this.height * scale) / 2;
    this.moveTo({ scale, x, y }, { animate });
  }

  zoom(factor, at = { x: this.window.width / 2, y: this.window.height / 2 }, options = { animate: false }) {
    const least = Math.min(this.fitScale, MAP_NEAR) / 2;
    const scale = Math.min(MAP_GREATEST_SCALE, Math.max(least, this.scale * factor));
    const ratio = scale / this.scale;
    this.moveTo({ scale, x: at.x - (at.x - this.x) * ratio, y: at.y - (at.y - this.y) * ratio }, options);
  }

  pan(dx, dy) {
    this.moveTo({ scale: this.scale, x: this.x + dx, y: this.y + dy }, { animate: false });
  }

  // Brings a box to the middle, large enough to read.
  centre(box, scale = Math.max(this.scale, 0.9), options = { animate: true }) {
    const x = this.window.width / 2 - (box.x + box.width / 2) * scale;
    const y = this.window.height / 2 - (box.y + box.height / 2) * scale;
    this.moveTo({ scale, x, y }, options);
  }

  // Shows a box with its highlighted neighbours where they have room, and else the box alone.
  reveal(box) {
    const lit = [...this.boxes.values()].filter((each) => each.element.classList.contains("lit"));
    const around = mapBounds([box, ...lit]);
    const scale = Math.min(this.scale, (this.window.width - 2 * MAP_MARGIN) / around.width, (this.window.height - MAP_MARGIN - MAP_FOOT) / around.height);
    const isReadable = scale >= this.scale * 0.6;
    this.bring(isReadable ? around : box, isReadable ? scale : this.scale);
  }

  // Moves the window no further than needed to have a rectangle in it at a scale.
  bring(area, scale) {
    const middle = { x: this.window.width / 2, y: this.window.height / 2 };
    const ratio = scale / this.scale;
    const [x, y] = [middle.x - (middle.x - this.x) * ratio, middle.y - (middle.y - this.y) * ratio];
    const shift = (start, size, room) => Math.max(MAP_MARGIN - start, 0) || Math.min(0, room - size - start);
    const dx = shift(area.x * scale + x, area.width * scale, this.window.width - MAP_MARGIN);
    const dy = shift(area.y * scale + y, area.height * scale, this.window.height - MAP_FOOT);
    if (dx || dy || ratio !== 1) this.moveTo({ scale, x: x + dx, y: y + dy }, { animate: true });
  }

  moveTo(target, { animate }) {
    cancelAnimationFrame(this.frame);
    if (!animate || mapMotion.matches || !this.scale) {
      Object.assign(this, target);
      this.frame = requestAnimationFrame(() => this.transform());
      return;
    }
    const start = { scale: this.scale, x: this.x, y: this.y };
    let began;
    const step = (now) => {
      began ??= now;
      const share = Math.min(1, (now - began) / 220);
      const eased = 1 - (1 - share) ** 3;
      for (const name of ["scale", "x", "y"]) this[name] = start[name] + (target[name] - start[name]) * eased;
      this.transform();
      if (share < 1) this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
  }

  transform() {
    const base = Math.min(this.window.width / this.width, this.window.height / this.height);
    const left = (this.window.width - this.width * base) / 2;
    const top = (this.window.height - this.height * base) / 2;
    const scale = this.scale / base;
    this.svg.style.transform = `translate(${this.x - left * scale}px, ${this.y - top * scale}px) scale(${scale})`;
    this.setLevel(this.scale);
    this.sizeNames(this.scale);
    this.cull();
  }

  setLevel(scale) {
    const level = scale >= MAP_NEAR ? "near" : scale >= MAP_FAR ? "far" : "furthest";
    if (this.svg.dataset.level !== level) this.svg.dataset.level = level;
  }

  // A printer gets the whole drawing: style sheets take out the transformation.
  showAll() {
    this.setLevel(this.fitScale);
    this.sizeNames(this.fitScale);
    for (const part of this.culled) this.setAway(part, false);
  }

  // What was shown or hidden already isn't touched: the browser would check its style.
  cull() {
    const { x: left, y: top } = this.toDrawing({ x: 0, y: 0 });
    const { x: right, y: bottom } = this.toDrawing({ x: this.window.width, y: this.window.height });
    for (const part of this.culled) {
      const isInside = part.x < right && part.y < bottom && part.x + part.width > left && part.y + part.height > top;
      this.setAway(part, !isInside && part !== this.stop);
    }
  }

  setAway(part, isAway) {
    if (Boolean(part.isAway) === isAway) return;
    part.isAway = isAway;
    part.element.classList.toggle("away", isAway);
  }

  // The box that the Tab key leads to is always there.
  setStop(box) {
    this.stop.frame.setAttribute("tabindex", "-1");
    this.stop = box;
    this.setAway(box, false);
    box.frame.setAttribute("tabindex", "0");
  }

  // The names of regions and landmarks keep their size on the screen, in steps.
  sizeNames(scale) {
    const size = 13 / 1.25 ** Math.round(Math.log(Math.min(scale, 1)) / Math.log(1.25));
    if (size === this.nameSize) return;
    this.nameSize = size;
    for (const name of this.names) name.setAttribute("font-size", size.toFixed(1));
  }

  toDrawing(point) {
    return { x: (point.x - this.x) / this.scale, y: (point.y - this.y) / this.scale };
  }

  // The line that is shown closest to a point of the window, if one is within reach.
  lineAt(point, reach = 6) {
    const at = this.toDrawing(point);
    let [nearest, least] = [null, reach / this.scale];
    for (const line of this.lines) {
      const isNear = line.x - least < at.x && at.x < line.x + line.width + least && line.y - least < at.y && at.y < line.y + line.height + least;
      if (!isNear || !this.isShown(line)) continue;
      for (let i = 0; i + 3 < line.points.length; i += 2) {
        const [x1, y1, x2, y2] = line.points.slice(i, i + 4);
        const dx = Math.max(Math.min(x1, x2) - at.x, at.x - Math.max(x1, x2), 0);
        const dy = Math.max(Math.min(y1, y2) - at.y, at.y - Math.max(y1, y2), 0);
        const distance = Math.max(dx, dy);
        if (distance < least) [nearest, least] = [line, distance];
      }
    }
    return nearest;
  }

  isShown(line) {
    return MAP_SWITCHED.every((state) => this.shows(state) || !line.element.classList.contains(state));
  }

  shows(state) {
    return !this.svg.hasAttribute(`data-without-${state}`);
  }

  setShown(state, isShown) {
    this.svg.toggleAttribute(`data-without-${state}`, !isShown);
  }

  // The box that is closest in a direction, straight ahead rather than aside.
  neighbour(box, dx, dy) {
    const middle = (each) => [each.x + each.width / 2, each.y + each.height / 2];
    const [x, y] = middle(box);
    let [nearest, least] = [null, Infinity];
    for (const other of this.boxes.values()) {
      const [otherX, otherY] = middle(other);
      const ahead = (otherX - x) * dx + (otherY - y) * dy;
      const aside = Math.abs((otherX - x) * dy) + Math.abs((otherY - y) * dx);
      if (other === box || ahead <= 1 || aside > ahead * 3) continue;
      const cost = ahead + aside * 2;
      if (cost < least) [nearest, least] = [other, cost];
    }
    return nearest;
  }

  // Highlights lines and boxes; all others fade.
  highlight(boxes, lines) {
    for (const element of this.marked) element.classList.remove("lit");
    this.marked = [...boxes, ...lines].map((each) => each.element);
    for (const element of this.marked) element.classList.add("lit");
    this.svg.classList.toggle("faded", this.marked.length > 0);
  }

  highlightBox(box) {
    const lines = box.lines.filter((line) => this.isShown(line));
    const ids = new Set([box.id, ...lines.flatMap((line) => [line.child, line.parent])]);
    this.highlight([...ids].map((id) => this.boxes.get(id)), lines);
  }

  highlightLine(line) {
    this.highlight([...new Set([line.child, line.parent])].map((id) => this.boxes.get(id)), [line]);
  }
}
