/** Puts the reading room together inside its element and takes it apart again. */

import { Commands } from "./room/commands.js";
import { Courier } from "./delivery/courier.js";
import { DeskRoutes } from "./delivery/desk.js";
import { Films } from "./film/films.js";
import { GivingUp } from "./case/giving-up.js";
import { Hands } from "./viewer/hands.js";
import { watchOver } from "./page/idle.js";
import { HERE } from "./room/interludes.js";
import { browserStorage } from "./page/keep.js";
import { Overlays } from "./page/overlays.js";
import { Panel } from "./page/panel.js";
import { Picture } from "./viewer/picture.js";
import { banner, wayOut } from "./page/preview.js";
import { Room } from "./room/room.js";
import { Settings } from "./page/settings.js";
import { Stage } from "./case/stage.js";
import { StepSheet } from "./page/step-sheet.js";
import { texts } from "./page/texts.js";

const TICK_MS = 100;

/**
 * @param {ParentNode} parent holds the markup of viewer.html
 * @param {{desk_url: string, sign_out_url: string, here_url: string, force_canvas: boolean, language: string,
 *   preview: import("./page/preview.js").Urls|null}} data
 * @returns {() => void} stops everything
 */
export function start(parent, data) {
  const root = parent.querySelector(".reading-room");
  const place = root.querySelector(".rr-films");
  root.lang = data.language;
  write(root);
  const { preview } = data;
  const overlays = new Overlays(root, preview ? wayOut(preview)
    : { url: data.sign_out_url, method: "post", label: texts.labels.signOut });
  if (preview) root.querySelector(".rr-main").append(banner(preview));
  root.querySelector(".rr-exit").append(overlays.signOut());
  const used = (tool) => room.used(tool);
  const panel = new Panel(root, {
    choose: (option, now) => room.answering.choose(option, now),
    confidence: (step) => room.answering.sure(step),
    comment: (text) => room.answering.comment(text),
    confirm: (now) => room.confirm(now),
  });
  const picture = new Picture(place, data.force_canvas, {
    used,
    lost: () => room.filmsLost(),
    resized: () => films.prepareAnew(),
    fresh: () => { delete root.dataset.panel; },
    hint: (text) => panel.hint(text),
    looking: (uses) => room.sitting?.looking(uses, performance.now()),
  });
  const settings = new Settings(({ views, panel: look }) => {
    root.dataset.theme = look;
    picture.link(views === "linked");
  });
  const hands = new Hands(place, picture, used, settings);
  const films = new Films(picture);
  const stage = new Stage({ root, panel, picture, films, hands, overlays });
  const sheet = new StepSheet(root);
  const givingUp = new GivingUp(root, () => panel.hint(""));
  const room = new Room({ root, panel, stage, overlays, sheet, givingUp, preview: Boolean(preview) });
  const commands = new Commands({ root, room, picture, panel, overlays, sheet, settings });
  const courier = new Courier(new DeskRoutes(new URL(data.desk_url, document.baseURI).href), overlays, {
    outboxChanged: () => room.post.outboxChanged(),
    blocked: () => room.visibility(performance.now()),
    trouble: (text) => room.post.trouble(text),
    notTaken: (text) => room.post.notTaken(text),
    receipt: (receipt, sent) => room.post.receipt(receipt, sent),
  }, browserStorage(Boolean(preview)));

  const stop = new AbortController();
  const on = (target, type, run, capture = false) =>
    target.addEventListener(type, run, { capture, signal: stop.signal });
  const depart = ({ persisted }) => {
    room.leave(persisted);
    courier.outbox?.farewell();
  };
  on(document, "visibilitychange", (event) => {
    room.visibility(event.timeStamp);
    if (!document.hidden) courier.hurry();
  });
  on(window, "focus", () => courier.hurry());
  on(window, "pagehide", depart);
  on(window, "pageshow", (event) => { if (event.persisted) room.comeBack(); });
  on(window, "beforeunload", (event) => { if (courier.outbox?.unkept) event.preventDefault(); });
  on(window, "online", () => courier.hurry());
  on(window, "resize", () => room.resized());
  const rest = watchOver(data.here_url, alone(courier, overlays)); // before the commands, which swallow their keys
  for (const type of ["keydown", "pointerdown", "wheel"]) on(window, type, () => room.touched(), true);
  // A pointer that lies still is said to move whenever something moves under it.
  on(window, "pointermove", (event) => { if (event.movementX || event.movementY) room.touched(); }, true);
  on(window, "keydown", (event) => commands.key(event), true);
  on(root, "mousedown", keepFocus);
  on(root, "click", (event) => {
    const command = event.target.closest("[data-command]")?.dataset.command;
    if (command) commands.run({ do: command }, event.timeStamp);
  });
  on(root, "submit", (event) => confirmLeaving(event, courier, overlays));
  const ticking = setInterval(() => room.tick(performance.now()), TICK_MS);
  on(root, "cancel", (event) => event.preventDefault());
  on(root, "close", () => lift(root));
  lift(root);
  room.open(courier, () => settings.open(courier.keep));

  return () => {
    root.querySelector(".rr-preview")?.remove();
    depart({ persisted: false });
    clearInterval(ticking);
    rest();
    stop.abort();
    courier.stop();
    hands.stop();
    films.stop();
    picture.stop();
  };
}

/** What is done before a sign-in that nobody uses ends, and then. @returns {import("./page/idle.js").Page} */
function alone(courier, overlays) {
  const { title, text, button } = texts.alone;
  const calm = () => { if (overlays.open === "alone") overlays.close(); };
  return {
    warn: () => { if (!overlays.open) overlays.ask("alone", { title, text }, [{ label: button, run: calm }]); },
    calm,
    ended: () => { calm(); courier.keep?.drop(HERE); courier.refresh(); },
  };
}

/** The words of the markup. */
function write(root) {
  for (const element of root.querySelectorAll("[data-text]")) {
    element.textContent = texts.labels[element.dataset.text];
  }
  for (const element of [root, ...root.querySelectorAll("[data-label]")]) {
    element.setAttribute("aria-label", texts.labels[element.dataset.label]);
  }
}

/** Above everything, whatever the page around does: a modal dialog lies on top of it all. */
function lift(root) {
  if (!root.isConnected || root.open) return;
  // Having lost its connection, Streamlit opens a window of its own that makes the page inert and swallows clicks
  // outside itself. React Aria, which it is made with, spares what carries this mark.
  root.dataset.reactAriaTopLayer = "true";
  root.showModal();
  root.focus({ preventScroll: true });
}

/** A click with the mouse leaves the focus alone, so that Enter still means confirm afterwards. */
function keepFocus(event) {
  if (!event.target.closest("button")) return;
  event.preventDefault();
  if (document.activeElement?.matches("textarea")) document.activeElement.blur();
}

function confirmLeaving(event, courier, overlays) {
  const waiting = courier.outbox?.readings.length ?? 0;
  if (!waiting) {
    forget(courier);
    return;
  }
  event.preventDefault();
  courier.outbox.hurry();
  const { title, text, button, leave } = texts.leaving;
  overlays.ask("leaving", { title, text: text(waiting) }, [
    { label: button, run: () => overlays.close() },
    { label: leave, run: () => { forget(courier); event.target.submit(); } },
  ]);
}

function forget(courier) {
  courier.outbox?.forget();
  courier.keep?.drop(HERE);
}
