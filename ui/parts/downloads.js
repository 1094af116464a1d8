const made = (tag, text, scope) => {
  const element = document.createElement(tag);
  element.textContent = text;
  if (scope) element.scope = scope;
  return element;
};
export default function ({ parentElement, data }) {
  parentElement.querySelector("caption").textContent = data.caption;
  parentElement.querySelector("thead tr").replaceChildren(
    ...data.heads.map((head) => made("th", head, "col")));
  parentElement.querySelector("tbody").replaceChildren(...data.rows.map((file) => {
    const row = document.createElement("tr");
    const link = made("a", file.name);
    link.href = file.address;
    link.download = "";
    const name = made("th", "", "row");
    name.append(link);
    const size = made("td", file.size);
    size.className = "n";
    const hash = made("td", "");
    hash.append(made("code", file.sha256));
    row.append(name, made("td", file.what), size, hash);
    return row;
  }));
}
