// Light, dark, or as the system has it. Where the browser keeps nothing for files, the choice
// lasts as long as the page.
const themes = ["auto", "light", "dark"];
const themeButton = document.getElementById("theme");

function savedTheme() {
  try {
    return localStorage.getItem("theme") ?? "auto";
  } catch {
    return "auto";
  }
}

function setTheme(theme) {
  root.dataset.theme = theme;
  themeButton.textContent = `Theme: ${theme}`;
  try {
    localStorage.setItem("theme", theme);
  } catch {
    announce(`Theme: ${theme}`);
  }
}

themeButton.hidden = false;
setTheme(themes.includes(savedTheme()) ? savedTheme() : "auto");
themeButton.addEventListener("click", () => {
  setTheme(themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length]);
});
