/** Copying: tables as CSV, the whole document as JSON, the command as text. */

export async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

export function startCopy(data) {
  const offer = (selector, textOf) => {
    for (const button of document.querySelectorAll(selector)) {
      button.addEventListener("click", async () => {
        await toClipboard(textOf(button));
        document.querySelector(".said").textContent = data.words["page.copied"];
        const label = button.textContent;
        button.textContent = data.words["page.copied"];
        setTimeout(() => (button.textContent = label), 1500);
      });
    }
  };
  offer("[data-copy-table]", (button) => data.tables[button.dataset.copyTable] ?? "");
  offer("[data-copy-from]", (button) => document.getElementById(button.dataset.copyFrom).textContent);
  offer("[data-copy-document]", () => JSON.stringify({ ...data.document, pattern: data.pattern }, null, 1));
}
