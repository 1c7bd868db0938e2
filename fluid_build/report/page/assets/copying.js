// Buttons with data-copy copy the text of the code next to them.
function copyBySelection(code) {
  const selection = window.getSelection();
  selection.selectAllChildren(code);
  const isCopied = document.execCommand("copy");
  if (isCopied) selection.removeAllRanges();
  return isCopied;
}

async function copyText(text, code) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return code ? copyBySelection(code) : false;
  }
}

async function copyFrom(button, text, code) {
  const label = button.textContent;
  const isCopied = await copyText(text, code);
  button.textContent = isCopied ? "Copied" : "Press Ctrl+C";
  announce(isCopied ? "Copied" : "The text is selected: press Ctrl+C to copy it");
  setTimeout(() => (button.textContent = label), 1600);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const code = button.parentElement.querySelector("code");
  copyFrom(button, code.textContent, code);
});
