// The map's search: tables first, then columns, those that begin with the text before others.
const MAP_MOST_SUGGESTIONS = 12;

function mapMatches(facts, text) {
  const query = text.trim().toLowerCase();
  if (!query) return [];
  const matches = [];
  const add = (box, column, name) => {
    const place = name.toLowerCase().indexOf(query);
    if (place >= 0) matches.push({ box, column, rank: (column ? 2 : 0) + (place > 0), length: name.length });
  };
  for (const box of facts.boxes.values()) {
    add(box, "", box.name);
    for (const [column] of box.rows) add(box, column, column);
  }
  return matches.sort((a, b) => a.rank - b.rank || a.length - b.length).slice(0, MAP_MOST_SUGGESTIONS);
}

class MapSearch {
  // Calls `choose` with the box of the suggestion that is picked.
  constructor(input, list, facts, choose) {
    Object.assign(this, { input, list, facts, choose, matches: [], active: 0 });
    input.addEventListener("input", () => this.suggest());
    input.addEventListener("focus", () => this.suggest());
    input.addEventListener("blur", () => this.close());
    input.addEventListener("keydown", (event) => this.press(event));
    // The input keeps the focus: a blur would close the list before the click arrives.
    list.addEventListener("pointerdown", (event) => event.preventDefault());
    list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.pick([...list.children].indexOf(option));
    });
  }

  suggest() {
    this.matches = mapMatches(this.facts(), this.input.value);
    this.list.replaceChildren(...this.matches.map(({ box, column }, place) =>
      mapElement("li", { role: "option", id: `map-suggestion-${place}` }, mapName(box.name), column ? mapElement("span", {}, " · ", mapName(column)) : ""),
    ));
    if (this.input.value.trim() && !this.matches.length) announce("No table or column has this in its name");
    this.setOpen(this.matches.length > 0);
    this.activate(0);
  }

  setOpen(isOpen) {
    this.list.hidden = !isOpen;
    this.input.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) this.input.removeAttribute("aria-activedescendant");
  }

  close() {
    this.setOpen(false);
  }

  activate(place) {
    if (!this.matches.length) return;
    this.active = (place + this.matches.length) % this.matches.length;
    [...this.list.children].forEach((option, n) => option.setAttribute("aria-selected", String(n === this.active)));
    this.input.setAttribute("aria-activedescendant", `map-suggestion-${this.active}`);
    this.list.children[this.active].scrollIntoView({ block: "nearest" });
  }

  press(event) {
    const isOpen = !this.list.hidden;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (isOpen) this.activate(this.active + (event.key === "ArrowDown" ? 1 : -1));
      else this.suggest();
    } else if (event.key === "Enter" && this.matches.length) {
      event.preventDefault();
      this.pick(isOpen ? this.active : 0);
    } else if (event.key === "Escape" && isOpen) {
      event.stopPropagation();
      this.close();
    }
  }

  pick(place) {
    const match = this.matches[place];
    this.close();
    if (match) this.choose(match.box.id, match.column);
  }
}
