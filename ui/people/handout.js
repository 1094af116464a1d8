const cell = (text) => {
  const safe = /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
  return '"' + safe.replaceAll('"', '""') + '"';
};

function element(name, className, text) {
  const node = document.createElement(name);
  node.className = className;
  node.textContent = text;
  return node;
}

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = element("textarea", "", text);
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

function download(data) {
  const lines = [["reader_id", "access_code", "link", "valid_until"]];
  for (const card of data.cards) lines.push([card.who, card.code, card.link, card.valid_until]);
  const text = lines.map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff" + text], { type: "text/csv" }));
  link.download = "access-codes.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function drawn(card, data, notice) {
  const item = document.createElement("li");
  item.append(
    element("h3", "", data.study),
    element("p", "who", card.who),
    element("p", "code", card.code),
    element("p", "address", data.address),
    element("p", "until", card.until),
  );
  const button = element("button", "", data.words.copy);
  button.type = "button";
  button.setAttribute("aria-label", data.words.copy + ": " + card.who);
  button.onclick = async () => {
    await copy(card.link);
    notice.textContent = data.words.copied + " " + card.who;
  };
  item.append(button);
  item.insertAdjacentHTML("beforeend", card.qr);
  return item;
}

export default function ({ parentElement, data }) {
  const tool = (name) => parentElement.querySelector(`[data-act=${name}]`);
  tool("print").textContent = data.words.print;
  tool("print").onclick = () => window.print();
  tool("csv").textContent = data.words.csv;
  tool("csv").onclick = () => download(data);
  const notice = parentElement.querySelector(".notice");
  parentElement.querySelector(".cards").replaceChildren(
    ...data.cards.map((card) => drawn(card, data, notice)),
  );
}
