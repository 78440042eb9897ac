/** The prompt as text to read, or as tokens to inspect: spaces and line ends visible, cut characters with k/n. */

function swap(chip, inspect) {
  if (chip.dataset.inspected === undefined) return;
  const text = chip.firstChild;
  if (inspect && chip.dataset.plain === undefined) {
    chip.dataset.plain = text.data;
    text.data = chip.dataset.inspected;
  } else if (!inspect && chip.dataset.plain !== undefined) {
    text.data = chip.dataset.plain;
    delete chip.dataset.plain;
  }
}

export function startTokens() {
  const root = document.getElementById("tokens");
  if (!root) return;
  const buttons = root.querySelectorAll("[data-token-view]");
  for (const button of buttons) {
    button.addEventListener("click", () => {
      const inspect = button.dataset.tokenView === "tokens";
      root.classList.toggle("inspect", inspect);
      for (const chip of root.querySelectorAll(".chip")) swap(chip, inspect);
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
    });
  }
}
