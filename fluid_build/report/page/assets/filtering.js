// An input with data-filter="ID" shows only those children of the list with that id whose
// data-text has all of its words.
document.addEventListener("input", (event) => {
  const list = document.getElementById(event.target.dataset?.filter ?? "");
  if (!list) return;
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const item of list.children) {
    const isShown = words.every((word) => item.dataset.text.includes(word));
    item.hidden = !isShown;
    count += isShown;
  }
  announce(`${count} shown`);
});
