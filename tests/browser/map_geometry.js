// Measures the layer of the map that is shown; map_geometry.py says what is measured.
() => {
  const svg = document.querySelector("svg.map-drawing");
  // Text is measured where it's shown; how far the map is zoomed out decides which text that is.
  const near = svg.dataset.level;
  svg.dataset.level = "near";
  const name = (element) => element.closest("[data-id]").dataset.id;
  const boxes = [...svg.querySelectorAll(".box")].map((element) => {
    const [x, y] = element.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
    const { width, height } = element.querySelector(".frame").getBBox();
    return { id: element.dataset.id, element, left: x, top: y, right: x + width, bottom: y + height };
  });
  const edges = [...svg.querySelectorAll(".edge")].map((path) => {
    // The control points of the rounded corners are the corners of the route.
    const points = [...path.getAttribute("d").matchAll(/([MLQ])([-\d.]+)[ ,]([-\d.]+)/g)];
    const corners = points.map(([, command, x, y]) => ({ command, x: Number(x), y: Number(y) }));
    const route = corners.filter(({ command }, at) => command !== "L" || at === corners.length - 1);
    const { id, child, parent } = path.dataset;
    return { id, child, parent, route };
  });
  const segments = edges.flatMap(({ id, child, parent, route }) =>
    route.slice(1).map((end, at) => {
      const start = route[at];
      return {
        id, child, parent,
        left: Math.min(start.x, end.x), right: Math.max(start.x, end.x),
        top: Math.min(start.y, end.y), bottom: Math.max(start.y, end.y),
      };
    }));
  const meet = (a, b, slack) =>
    a.left < b.right - slack && b.left < a.right - slack && a.top < b.bottom - slack && b.top < a.bottom - slack;
  const pairs = (items, test) =>
    items.flatMap((a, at) => items.slice(at + 1).filter((b) => test(a, b)).map((b) => `${a.id} and ${b.id}`));
  const isFlat = (segment) => segment.bottom - segment.top < 0.2;
  const isUpright = (segment) => segment.right - segment.left < 0.2;
  const flat = segments.filter(isFlat), upright = segments.filter(isUpright);
  let crossings = 0;
  for (const a of flat) {
    for (const b of upright) {
      const inside = a.left < b.left - 0.5 && b.left < a.right - 0.5 && b.top < a.top - 0.5 && a.top < b.bottom - 0.5;
      if (inside && a.id !== b.id) crossings += 1;
    }
  }
  const wide = [];
  const check = (text, left, right) => {
    const { x, width } = text.getBBox();
    if (width && (x < left - 0.5 || x + width > right + 0.5)) wide.push(`${name(text)}: ${text.textContent}`);
  };
  for (const { element, left, right } of boxes) {
    for (const text of element.querySelectorAll(".title, .remark, .row")) check(text, 0, right - left);
    for (const row of element.querySelectorAll(".row")) {
      const type = row.querySelector(".type");
      const column = row.querySelector("tspan:not(.mark):not(.type)");
      if (type && column) check(column, 0, type.getBBox().x + 0.5);
    }
  }
  const labels = [...svg.querySelectorAll(".line text")].map((text) => {
    const { x, y, width, height } = text.getBBox();
    return { id: `label ${text.textContent}`, left: x, right: x + width, top: y, bottom: y + height };
  });
  svg.dataset.level = "far";
  for (const { element, left, right } of boxes) check(element.querySelector(".far"), 0, right - left);
  svg.dataset.level = near;
  return {
    boxes: boxes.length,
    edges: edges.length,
    crossings,
    overlapping: pairs(boxes, (a, b) => meet(a, b, 0)),
    crossed: segments.flatMap((a) => boxes.filter((b) => meet(a, b, 0.5)).map((b) => `${a.id} through ${b.id}`)),
    slanted: segments.filter((each) => !isFlat(each) && !isUpright(each)).map(({ id }) => id),
    loose: edges.filter(({ child, parent, route }) => {
      const ends = [[child, route[0]], [parent, route.at(-1)]];
      return ends.some(([id, { x, y }]) => {
        const box = boxes.find((each) => each.id === id);
        const isAtSide = Math.min(Math.abs(x - box.left), Math.abs(x - box.right)) < 0.2;
        return !isAtSide || y < box.top || y > box.bottom;
      });
    }).map(({ id }) => id),
    wide,
    covered: labels.flatMap((a) => boxes.filter((b) => meet(a, b, 0.5)).map((b) => `${a.id} on ${b.id}`)),
  };
}
