// The panel next to the map: the facts of a table or a relationship, or a list of all of them.
// It's also how the map reads without seeing it.
const mapCounts = { one: "exactly one", "zero-or-one": "at most one", many: "one or more", "zero-or-many": "any number" };
const mapStates = { sound: "", broken: "broken", implied: "implied", question: "question" };

function mapFacts(layer) {
  const { boxes, edges } = layer;
  const facts = { boxes: new Map(), edges: new Map() };
  for (const [id, name, kind, remark, address, tables, rows] of boxes) {
    facts.boxes.set(id, { id, name, kind, remark, address, tables, rows, edges: [] });
  }
  for (const [id, child, childRows, childCount, parent, parentRows, parentCount, state, orphans, label, text] of edges) {
    const edge = { id, child, childRows, childCount, parent, parentRows, parentCount, state, orphans, label, text };
    facts.edges.set(id, edge);
    for (const box of new Set([child, parent])) facts.boxes.get(box).edges.push(edge);
  }
  return facts;
}

// Makes an element; strings among the children are text and never markup.
function mapElement(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

function mapName(text) {
  return mapElement("code", { class: "name" }, mapElement("bdi", {}, text));
}

function mapBoxButton(facts, id) {
  return mapElement("button", { type: "button", class: "map-link", "data-map-box": id }, mapName(facts.boxes.get(id).name));
}

function mapStateLabel(edge) {
  const style = edge.state === "broken" ? "label bad" : "label";
  const text = edge.orphans ? `${edge.orphans.toLocaleString("en")} orphan${edge.orphans === 1 ? "" : "s"}` : mapStates[edge.state];
  return text ? mapElement("span", { class: style }, text) : null;
}

function mapReference(facts, edge, other) {
  const rows = other === edge.parent ? edge.childRows : edge.parentRows;
  const title = mapElement("p", {}, mapBoxButton(facts, other), " ", mapStateLabel(edge));
  const remark = edge.text || `${rows.join(", ")}`;
  return mapElement("li", {}, title, mapElement("p", { class: "remark" }, mapElement("bdi", {}, remark)));
}

function mapSection(title, items, className) {
  if (!items.length) return "";
  const heading = mapElement("h4", {}, `${title} (${items.length.toLocaleString("en")})`);
  return mapElement("section", {}, heading, mapElement("ul", { class: className }, ...items));
}

function mapHead(title, remark) {
  const close = mapElement("button", { type: "button", class: "quiet", "data-map-close": "" , "aria-label": "Close", title: "Close (Esc)" }, "×");
  return mapElement("div", { class: "map-panel-head" }, mapElement("div", {}, mapElement("h3", {}, title), mapElement("p", { class: "remark" }, remark)), close);
}

function mapRow([name, type, marks]) {
  const mark = mapElement("span", { class: "map-mark" }, marks);
  return mapElement("li", {}, mark, mapName(name), mapElement("span", { class: "remark" }, type));
}

function mapBoxPanel(facts, box) {
  const parents = box.edges.filter((edge) => edge.child === box.id);
  const children = box.edges.filter((edge) => edge.parent === box.id);
  const links = [
    mapElement("a", { href: `#${box.address}` }, box.tables.length ? "Columns, lineage and SQL" : "Figures and evidence"),
    ...box.tables.map(([name, address]) => mapElement("a", { href: `#${address}` }, "from ", mapName(name))),
  ];
  return [
    mapHead(mapElement("bdi", {}, box.name), [box.kind, box.remark].filter(Boolean).join(" · ")),
    mapElement("p", { class: "map-links" }, ...links),
    mapSection("Refers to", parents.map((edge) => mapReference(facts, edge, edge.parent)), "map-references"),
    mapSection("Referred to by", children.map((edge) => mapReference(facts, edge, edge.child)), "map-references"),
    mapSection("Columns", box.rows.map(mapRow), "map-rows"),
  ];
}

function mapLinePanel(facts, edge) {
  const names = [facts.boxes.get(edge.child).name, facts.boxes.get(edge.parent).name];
  const counts = `Each row of ${names[0]} has ${mapCounts[edge.parentCount]} in ${names[1]}. Each row of ${names[1]} has ${mapCounts[edge.childCount]} in ${names[0]}.`;
  return [
    mapHead("Relationship", edge.label),
    mapElement("p", {}, mapBoxButton(facts, edge.child), " → ", mapBoxButton(facts, edge.parent), " ", mapStateLabel(edge)),
    edge.text ? mapElement("p", {}, mapElement("bdi", {}, edge.text)) : "",
    mapElement("p", { class: "remark" }, mapElement("bdi", {}, counts)),
  ];
}

function mapListPanel(facts, title) {
  const boxes = [...facts.boxes.values()].map((box) => mapElement("li", {}, mapBoxButton(facts, box.id), " ", mapElement("span", { class: "remark" }, box.remark)));
  const lines = [...facts.edges.values()].map((edge) =>
    mapElement("li", {}, mapBoxButton(facts, edge.child), " → ", mapBoxButton(facts, edge.parent), " ", mapStateLabel(edge)),
  );
  return [mapHead(title, ""), mapSection("Boxes", boxes, "map-list"), mapSection("Relationships", lines, "map-list")];
}
