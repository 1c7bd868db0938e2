// An input with data-filter="ID" shows only those children of the list with that id that have all
// of its words, in data-text or else in their text. The pressed button of data-facets="ID" leaves
// those with its value as data-facet; a button without a value leaves all.
function narrow(list) {
  const search = document.querySelector(`[data-filter="${list.id}"]`);
  const facet = document.querySelector(`[data-facets="${list.id}"] [aria-pressed="true"]`)?.value;
  const words = (search?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const item of list.children) {
    const text = item.dataset.text ?? (words.length ? item.textContent.toLowerCase() : "");
    const isShown = (!facet || item.dataset.facet === facet) && words.every((word) => text.includes(word));
    item.hidden = !isShown;
    count += isShown;
  }
  const none = document.querySelector(`[data-none="${list.id}"]`);
  if (none) none.hidden = count > 0;
  return count;
}

document.addEventListener("input", (event) => {
  const list = document.getElementById(event.target.dataset?.filter ?? "");
  if (list) announce(`${narrow(list)} shown`);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-facets] button");
  if (!button) return;
  for (const each of button.parentElement.children) each.setAttribute("aria-pressed", each === button);
  announce(`${narrow(document.getElementById(button.parentElement.dataset.facets))} shown`);
});

for (const button of document.querySelectorAll('[data-facets] [aria-pressed="true"]:not([value=""])')) {
  narrow(document.getElementById(button.parentElement.dataset.facets));
}
