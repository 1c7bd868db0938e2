// Long texts are in the page as gzip in base64; each is unpacked once, when it is first needed.
const unpackedTexts = new Map();

async function unpack(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function unpacked(id) {
  if (!unpackedTexts.has(id)) unpackedTexts.set(id, unpack(id));
  return unpackedTexts.get(id);
}

// The HTML of a panel was escaped by the page's templates; a parsed document runs no scripts.
async function fillPanel(panel) {
  const texts = JSON.parse(await unpacked(panel.dataset.pack));
  const parsed = new DOMParser().parseFromString(texts[panel.id], "text/html");
  if (!panel.dataset.pack) return;
  panel.replaceChildren(...parsed.body.childNodes);
  delete panel.dataset.pack;
}
