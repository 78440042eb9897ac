/** Light, dark, or as the system says; the choice lasts as long as the browser lets a page remember. */

const THEME_KEY = "whybox-theme";

function remembered() {
  try {
    return localStorage.getItem(THEME_KEY);
  } catch {
    return null;
  }
}

function remember(choice) {
  try {
    localStorage.setItem(THEME_KEY, choice);
  } catch {
    // a page that may not store keeps its theme until it is closed
  }
}

export function applyTheme(choice) {
  if (choice === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice));
  }
  document.dispatchEvent(new Event("themechange"));
}

export function startTheme() {
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.addEventListener("click", () => {
      remember(button.dataset.themeChoice);
      applyTheme(button.dataset.themeChoice);
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    document.dispatchEvent(new Event("themechange"));
  });
  const choice = remembered();
  if (choice === "light" || choice === "dark") applyTheme(choice);
}
