/** Builds the reading room inside its element, and removes it. */

import { CannotAnswer, QuestionPanel } from "./page/question-panel.js";
import { CaseDisplay } from "./case/case-display.js";
import { Commands } from "./room/commands.js";
import { Connection, DeskRoutes } from "./delivery/connection.js";
import { FilmCache } from "./film/film-cache.js";
import { FilmViewer } from "./viewer/film-viewer.js";
import { HERE } from "./room/machine.js";
import { find } from "./page/elements.js";
import { watchOver } from "./page/idle.js";
import { MoreTools } from "./page/more-tools.js";
import { banner, leaveButton, Overlays, StepSheet } from "./page/overlays.js";
import { PointerInput } from "./viewer/pointer-input.js";
import { Room } from "./room/room.js";
import { wordsFor } from "./page/room-texts.js";
import { browserStorage, Settings } from "./page/storage.js";
import { texts } from "./page/texts.js";

/** @import { Page } from "./page/idle.js" */
/** @import { Apart } from "./page/overlays.js" */

const TICK_MS = 100;

/**
 * @param {ParentNode} parent holds the markup of viewer.html
 * @param {{desk_url: string, sign_out_url: string, here_url: string, language: string, apart: Apart|null}} data
 * @returns {() => void} stops everything
 */
export function start(parent, data) {
  /** @type {HTMLDialogElement} */
  const root = find(parent, ".reading-room");
  const place = find(root, ".rr-films");
  root.lang = data.language;
  const { apart } = data;
  wordsFor(apart?.of);
  write(root);
  const overlays = new Overlays(root, apart ? leaveButton(apart)
    : { url: data.sign_out_url, method: "post", label: texts.labels.signOut });
  if (apart) find(root, ".rr-main").append(banner(apart));
  find(root, ".rr-exit").append(overlays.signOut());
  const more = new MoreTools(root);
  const used = (tool) => room.used(tool);
  const panel = new QuestionPanel(root, {
    choose: (option, now) => room.send({ is: "choose", option }, now),
    write: (text, now) => room.send({ is: "write", text }, now),
    confidence: (step) => room.send({ is: "sure", step }),
    comment: (text) => room.send({ is: "comment", text }),
    faulty: (faulty) => room.send({ is: "faulty", faulty }),
    confirm: (now) => room.send({ is: "confirm" }, now),
  });
  const viewer = new FilmViewer(place, {
    used,
    lost: () => room.send({ is: "filmsLost" }),
    resized: () => films.prepareAnew(),
    fresh: () => { delete root.dataset.panel; more.close(); },
    folded: () => root.dataset.panel === "strip",
    toggled: (tools) => toggle(root, tools),
    hint: (text) => panel.hint(text),
    recordUse: (uses) => room.recordUse(uses, performance.now()),
  });
  const settings = new Settings(({ views, sizes, windows, panel: look }) => {
    root.dataset.theme = look;
    viewer.liked({ linked: views === "linked", equal: sizes === "equal", keeping: windows === "keep" });
  });
  const pointerInput = new PointerInput(place, viewer, used, settings);
  const films = new FilmCache(viewer.renderer, (loaded) => viewer.prepare(loaded));
  const display = new CaseDisplay({ root, panel, viewer, films, pointerInput, overlays });
  const sheet = new StepSheet(root);
  const cannotAnswer = new CannotAnswer(root, {
    reason: (number) => room.send({ is: "reason", number }),
    words: (text) => room.send({ is: "words", text }),
  });
  const connection = new Connection(new DeskRoutes(new URL(data.desk_url, document.baseURI).href), overlays, {
    outboxChanged: () => room.outboxChanged(),
    blocked: () => room.visibility(performance.now()),
    trouble: (text) => room.send({ is: "trouble", text }),
    notTaken: (text) => room.notTaken(text),
    receipt: (receipt, sent) => room.send({ is: "receipt", receipt, sent }),
  }, browserStorage(Boolean(apart)));
  const { renderer } = viewer;
  const room = new Room({
    root, panel, display, renderer, overlays, sheet, cannotAnswer, connection, apart,
  });
  const commands = new Commands({ root, room, viewer, panel, overlays, sheet, settings, more });

  const stop = new AbortController();
  const on = (target, type, run, capture = false) =>
    target.addEventListener(type, run, { capture, signal: stop.signal });
  const depart = ({ persisted }) => {
    room.leave(persisted);
    connection.outbox?.sendOnLeaving();
  };
  on(document, "visibilitychange", (event) => {
    room.visibility(event.timeStamp);
    if (!document.hidden) connection.retryNow();
  });
  on(window, "focus", () => connection.retryNow());
  on(window, "pagehide", depart);
  on(window, "pageshow", (event) => { if (event.persisted) room.comeBack(); });
  on(window, "beforeunload", (event) => { if (connection.outbox?.unkept) event.preventDefault(); });
  on(window, "online", () => connection.retryNow());
  on(window, "resize", () => room.send({ is: "resized" }));
  const rest = watchOver(data.here_url, alone(connection, overlays)); // before the commands, which stop key events
  for (const type of ["keydown", "pointerdown", "wheel"]) on(window, type, () => room.touched(), true);
  // Browsers report a pointer move whenever an element moves under a still pointer.
  on(window, "pointermove", (event) => { if (event.movementX || event.movementY) room.touched(); }, true);
  on(window, "keydown", (event) => commands.key(event), true);
  on(root, "mousedown", keepFocus);
  on(root, "click", (event) => {
    const command = event.target.closest("[data-command]")?.dataset.command;
    if (command) commands.run({ do: command }, event.timeStamp);
    more.clicked(event.target);
  });
  on(root, "submit", (event) => confirmLeaving(event, connection, overlays));
  const ticking = setInterval(() => room.tick(performance.now()), TICK_MS);
  on(root, "cancel", (event) => event.preventDefault());
  on(root, "close", () => lift(root));
  lift(root);
  room.open(() => settings.open(connection.storage));

  return () => {
    root.querySelector(".rr-banner")?.remove();
    depart({ persisted: false });
    clearInterval(ticking);
    rest();
    stop.abort();
    connection.stop();
    pointerInput.stop();
    films.stop();
    viewer.stop();
  };
}

/** Actions before and at the end of an idle sign-in. @returns {Page} */
function alone(connection, overlays) {
  const { title, text, button } = texts.alone;
  const calm = () => { if (overlays.open === "alone") overlays.close(); };
  return {
    warn: () => { if (!overlays.open) overlays.ask("alone", { title, text }, [{ label: button, run: calm }]); },
    calm,
    ended: () => { calm(); connection.storage?.drop(HERE); connection.refresh(); },
  };
}

/** Fill the texts of the markup. */
function write(root) {
  for (const element of root.querySelectorAll("[data-text]")) {
    element.textContent = texts.labels[element.dataset.text];
  }
  for (const element of [root, ...root.querySelectorAll("[data-label]")]) {
    element.setAttribute("aria-label", texts.labels[element.dataset.label]);
  }
}

/** @param {HTMLElement} root @param {{[command: string]: boolean}} tools which are on, by their command */
function toggle(root, tools) {
  for (const [command, on] of Object.entries(tools)) {
    find(root, `.rr-tools [data-command=${command}]`).setAttribute("aria-pressed", String(on));
  }
}

/** Show the room above the surrounding page, as a modal dialog. */
function lift(root) {
  if (!root.isConnected || root.open) return;
  // After losing its connection, Streamlit opens a dialog that makes the page inert and swallows clicks
  // outside itself. React Aria, which the dialog uses, ignores elements with this attribute.
  root.dataset.reactAriaTopLayer = "true";
  root.showModal();
  root.focus({ preventScroll: true });
}

/** A mouse click does not move the focus, so that Enter still confirms. */
function keepFocus(event) {
  if (!event.target.closest("button")) return;
  event.preventDefault();
  if (document.activeElement instanceof HTMLTextAreaElement) document.activeElement.blur();
}

function confirmLeaving(event, connection, overlays) {
  const waiting = connection.outbox?.readings.length ?? 0;
  if (!waiting) {
    forget(connection);
    return;
  }
  event.preventDefault();
  connection.outbox.retryNow();
  const { title, text, button, leave } = texts.leaving;
  overlays.ask("leaving", { title, text: text(waiting) }, [
    { label: button, run: () => overlays.close() },
    { label: leave, run: () => { forget(connection); event.target.submit(); } },
  ]);
}

function forget(connection) {
  connection.outbox?.forget();
  connection.storage?.drop(HERE);
}
