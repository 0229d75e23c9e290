for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  table.querySelectorAll("thead th").forEach((heading, column) => {
    const button = document.createElement("button");
    button.append(...heading.childNodes);
    heading.append(button);
    const key = (row) => {
      const cell = row.cells[column], value = cell.dataset.value;
      return value === undefined ? cell.textContent.trim() : value === "None" || value === "" ? -Infinity : Number(value);
    };
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const order = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b)) * (down ? -1 : 1);
      body.append(...[...body.rows].sort((a, b) => order(key(a), key(b))));
    });
  });
}
