// Buttons with data-copy copy the text of the code next to them.
function copyBySelection(code) {
  const selection = window.getSelection();
  selection.selectAllChildren(code);
  const isCopied = document.execCommand("copy");
  if (isCopied) selection.removeAllRanges();
  return isCopied;
}

async function copyText(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return true;
  } catch {
    return copyBySelection(code);
  }
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const label = button.textContent;
  const isCopied = await copyText(button.parentElement.querySelector("code"));
  button.textContent = isCopied ? "Copied" : "Press Ctrl+C";
  announce(isCopied ? "Copied" : "The text is selected: press Ctrl+C to copy it");
  setTimeout(() => (button.textContent = label), 1600);
});
