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
