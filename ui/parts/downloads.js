const cell = (tag, text, scope) => {
  const element = document.createElement(tag);
  element.textContent = text;
  if (scope) element.scope = scope;
  return element;
};
export default function ({ parentElement, data }) {
  parentElement.querySelector("caption").textContent = data.caption;
  parentElement.querySelector("thead tr").replaceChildren(
    ...data.heads.map((head) => cell("th", head, "col")));
  parentElement.querySelector("tbody").replaceChildren(...data.rows.map((file) => {
    const row = document.createElement("tr");
    const link = cell("a", file.name);
    link.href = file.address;
    link.download = "";
    const name = cell("th", "", "row");
    name.append(link);
    const size = cell("td", file.size);
    size.className = "n";
    const hash = cell("td", "");
    hash.append(cell("code", file.sha256));
    row.append(name, cell("td", file.what), size, hash);
    return row;
  }));
}
