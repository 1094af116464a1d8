/** Every word the reading page says, in one place; English, and looked up in the catalogue that came with the page. */

import { t, tn } from "./words.js";

/** @import { Window } from "./types.js" */

const round = (value) => Math.round(value).toString();
const date = (utc) => new Date(utc).toLocaleString([], { dateStyle: "full", timeStyle: "short" });
const stepWords = (step) => (step === null ? t("none") : t("{step} of 256 greys", { step }));

export const texts = {
  labels: {
    room: t("Reading room"),
    films: t("Films"),
    noFilm: t("This question is asked without the film."),
    question: t("Question"),
    progress: t("Cases read"),
    confidence: t("How sure are you?"),
    sureLeast: t("not at all"),
    sureMost: t("certain"),
    comment: t("Comment"),
    reasons: t("Why can it not be answered?"),
    confirm: t("Confirm"),
    tools: t("Film tools"),
    fit: t("Fit"),
    actualSize: "1:1",
    invert: t("Invert"),
    window: t("Window"),
    glass: t("Glass"),
    flip: t("Mirror"),
    measure: t("Measure"),
    link: t("Link"),
    swap: t("Swap"),
    onlyFilm: t("Film only"),
    showQuestion: t("Question"),
    settings: t("Settings"),
    view: t("View"),
    reset: t("Reset"),
    back: t("Back"),
    pause: t("Pause"),
    help: t("Keys"),
    signOut: t("Sign out"),
    close: t("Close"),
  },
  position: (n, total) => t("Case {n} of {total}", { n, total }),
  practice: (n, total) => t("Practice {n} of {total}", { n, total }),
  session: (n, total) => t("Session {n} of {total}", { n, total }),
  revisited: (status) => (status === "skipped" ? t("given up before") : t("read before")),
  countdown: (left_s) => t("{minutes}:{seconds} left", {
    minutes: Math.floor(left_s / 60), seconds: String(left_s % 60).padStart(2, "0"),
  }),
  confirmNext: t("Next case"),
  outbox: {
    idle: "",
    empty: t("Saved"),
    sending: t("Saving…"),
    kept: t("Kept on this computer, will be sent"),
    unkept: t("Unsent: please keep this page open"),
  },
  canvas: t("Simple display in use (no WebGL)"),
  reader: (code) => t("Reader {code}", { code }),
  keys: { enter: t("Enter ↵"), escape: t("Esc"), space: t("Space") },
  cannotAnswer: {
    label: t("Cannot answer"),
    key: "N",
    back: t("Back to the answers"),
    backKey: t("Esc"),
    title: t("Why can it not be answered?"),
    reasons: [t("Film quality"), t("Question unclear"), t("No option fits"), t("Something else")],
    // What the reading keeps: the same words in every language, for they are analysed together.
    kept: ["Film quality", "Question unclear", "No option fits", "Something else"],
    other: t("In a few words"),
  },
  conditions: {
    "image-absent": t("From here the questions come without the film."),
    unaided: t("From here the questions come with the film."),
    aided: t("From here the questions come with the film and with aid."),
  },
  begin: (n) => ({
    title: t("Ready to begin?"),
    text: [
      tn("{n} case.", "{n} cases.", n),
      t("The clock starts with the first film; P pauses it, ? lists all keys."),
    ].join(" "),
    button: t("Begin"),
  }),
  beginPractice: (n) => ({
    title: t("Practice comes first"),
    text: [
      tn("{n} case to get to know the page. You are told the reference answer after it, and it does not count.",
        "{n} cases to get to know the page. You are told the reference answer after each, and they do not count.", n),
      t("P pauses, ? lists all keys."),
    ].join(" "),
    button: t("Begin"),
  }),
  beginAfterPractice: (n, { feedback }) => ({
    title: t("The study begins"),
    text: [{
      "after case": tn("{n} case, from now on with the reference answer after each one.",
        "{n} cases, from now on with the reference answer after each one.", n),
      "after study": tn("{n} case, from now on with feedback once the study is closed.",
        "{n} cases, from now on with feedback once the study is closed.", n),
      never: tn("{n} case, from now on without feedback.", "{n} cases, from now on without feedback.", n),
    }[feedback], t("The clock starts with the first film.")].join(" "),
    button: t("Begin"),
  }),
  beginSession: (n, sessions, total, turned) => ({
    title: t("Session {n} of {total}", { n, total: sessions }),
    text: [tn("{n} case.", "{n} cases.", total), turned, t("The clock starts with the first film.")].filter(Boolean)
      .join(" "),
    button: t("Begin"),
  }),
  onAgain: {
    title: t("Reading goes on"),
    text: t("The next case is ready. The clock starts when you go on."),
    button: t("Continue"),
  },
  holds: {
    "washing out": ({ session, sessions, opens_at_utc }) => ({
      title: t("Session {n} of {total} is complete", { n: session - 1, total: sessions }),
      lines: [
        t("Thank you. Your answers are stored."),
        opens_at_utc ? t("Session {n} opens on {date}.", { n: session, date: date(opens_at_utc) }) : "",
        t("Until then the cases rest, so that you will not know them again."),
        t("You can sign out now, and sign in again with the same access code."),
      ],
    }),
    paused: () => ({
      title: t("Reading is paused"),
      lines: [
        t("Your coordinator has paused the reading for now. Your answers are stored."),
        t("You may leave this page open: it goes on by itself. Or sign out, and come back later."),
      ],
    }),
    lapsed: ({ session, sessions }) => ({
      title: sessions > 1 ? t("The time for session {n} is over", { n: session }) : t("The time for reading is over"),
      lines: [
        t("Some of its cases are not read yet. What you have read is stored."),
        t("Ask your coordinator: they can give you more time, and then it goes on here."),
      ],
    }),
    closed: () => ({
      title: t("The study is closed"),
      lines: [t("No more cases are read. Thank you: what you have read is stored.")],
    }),
    withdrawn: () => ({
      title: t("You have left this study"),
      lines: [t("No more cases are shown to you. What you have read until then is kept.")],
    }),
  },
  rest: (read, total, turned) => ({
    title: t("A good moment for a break"),
    text: [t("{read} of {total} read.", { read, total }), turned, t("The clock stands still; Enter continues.")]
      .filter(Boolean).join(" "),
    button: t("Continue"),
  }),
  block: (turned) => ({
    title: t("The next part"),
    text: [turned, t("The clock stands still; Enter continues.")].join(" "),
    button: t("Continue"),
  }),
  preparation: {
    count: (n, total) => t("Step {n} of {total}", { n, total }),
    onward: t("Continue"),
    begin: t("To the cases"),
    consent: {
      title: t("Consent"),
      agree: t("I agree"),
      disagree: t("I do not agree"),
      choose: t("Press 1 to agree or 2 not to agree, then Enter."),
    },
    declined: {
      title: t("You have not agreed"),
      text: t("No case is shown to you, and nothing about you is recorded. You can sign out, or read the consent once "
        + "more. If you have questions, ask your coordinator."),
      back: t("Back to the consent"),
    },
    instructions: { title: t("Instructions") },
    questionnaire: {
      title: t("About you"),
      needed: t("required"),
      optional: t("may be left out"),
      faults: {
        choice: t("Choose one of these."),
        number: t("Enter a number."),
        noNumber: t("This is not a number: use digits only."),
        text: t("A few words are needed here."),
      },
      missing: (n) => tn("{n} answer is missing.", "{n} answers are missing.", n),
    },
    display: {
      title: t("Your screen"),
      text: t("A faint disc lies at the top, right, bottom or left of the field. Press 1 to 4, an arrow key, or tap "
        + "the place where you see it. If you cannot see it, press Space: nobody sees all of them."),
      unseen: t("I cannot see it"),
      places: t("Where is the disc?"),
      place: [t("1, top"), t("2, right"), t("3, bottom"), t("4, left")],
      field: (name) => (name === "dark" ? t("dark field with a faint disc") : t("bright field with a faint disc")),
      result: ({ dark, bright }) => [
        [t("Faintest step seen on dark"), stepWords(dark)],
        [t("Faintest step seen on bright"), stepWords(bright)],
      ],
      good: t("This will do for reading films."),
      /** @type {{[name: string]: (facts: {[name: string]: any}) => string}} */
      advice: {
        zoom: ({ page_zoom, pinch_zoom }) => t("The page is zoomed to about {percent} %. Set it to 100 % (Ctrl and 0), "
          + "so that films keep their sharpness.", { percent: Math.round(100 * (page_zoom ?? 1) * (pinch_zoom ?? 1)) }),
        window: ({ viewport_width, viewport_height }) => t("The window is {width} × {height}. Films want at least "
          + "1280 × 720: make it larger, or press F11 for the whole screen.",
        { width: viewport_width, height: viewport_height }),
        nothing: () => t("You saw none of the discs: on this screen, as it is now, faint findings would be lost. Turn its "
          + "brightness up, dim the room and keep lights off the screen, or use another screen. Then check again. If that "
          + "does not help, tell your coordinator before you go on."),
        dark: () => t("Faint shades in dark parts get lost. Dim the room, keep lights and windows off the screen, and "
          + "turn its brightness up."),
        bright: () => t("Faint shades in bright parts get lost. Turn the contrast of the screen down a little, or its "
          + "brightness."),
      },
      again: t("Check again"),
    },
  },
  preview: {
    unrecorded: t("Preview: nothing is recorded"),
    again: t("Start again"),
    leave: t("End the preview"),
  },
  mirrored: t("MIRRORED"),
  scale: (mm) => (mm < 10 ? t("{n} mm", { n: mm }) : t("{n} cm", { n: mm / 10 })),
  length: (mm) => t("{n} mm at the detector", { n: mm.toFixed(1) }),
  /** @param {{window: Window, zoom: number, preset: string, inverted: boolean, swapped: boolean, linked: boolean,
   *  measuring: boolean}} state */
  paneState: ({ window, zoom, preset, inverted, swapped, linked, measuring }) => [
    t("W {width}  L {level}", {
      width: round(window.high - window.low), level: round((window.high + window.low) / 2),
    }),
    preset && preset !== "full" ? { auto: "1–99 %", soft: t("soft"), hard: t("hard") }[preset] : "",
    t("{n} %", { n: round(zoom * 100) }),
    inverted ? t("inverted") : "",
    swapped ? t("swapped") : "",
    linked ? t("linked") : "",
    measuring ? t("measuring") : "",
  ].filter(Boolean).join("   "),
  hints: {
    chooseFirst: t("Choose an answer first."),
    sayHowSure: (steps) => t("How sure are you? 1 to {steps}, then Enter.", { steps }),
    sureKeys: (steps) => t("keys 1 to {steps}", { steps }),
    letterFirst: (steps) => t("Press a letter to choose an answer first, then 1 to {steps} for how sure you are.", { steps }),
    refused: (why) => t("An answer was not taken: {why}", { why }),
    wrongOrigin: t("The server takes no answers from this address. They stay on this computer; tell your coordinator."),
    notTaken: (why) => t("Your answers were not taken ({why}). They stay on this computer; tell your coordinator.",
      { why }),
    readElsewhere: t("The case you had before you was read in another window; your first answer stands."),
    chooseReason: t("Choose a reason first."),
    reasonWords: t("Say in a few words why."),
    noSpacing: t("The size of this film's pixels is not known: nothing can be measured on it."),
    linesFull: (most) => t("{most} lines at most. Delete removes one.", { most }),
    earlierFailed: t("The earlier case cannot be fetched just now."),
  },
  feedback: {
    right: t("That is the reference answer."),
    wrong: (option) => t("The reference answer is {option}.", { option }),
    timedOut: (option) => t("Time is up. The reference answer is {option}.", { option }),
  },
  loading: {
    opening: t("Opening the reading room…"),
    film: t("Loading the film…"),
    waiting: t("Waiting for the connection. Your answers are kept."),
    saving: t("Saving your answers…"),
    noServer: t("No connection to the server. Trying again…"),
  },
  paused: {
    title: t("Paused"),
    text: t("The film is hidden and the clock stands still."),
    button: t("Continue"),
  },
  absent: {
    title: t("Are you still there?"),
    text: t("The time for the last cases ran out and nothing was touched. The next case waits; the clock stands still. "
      + "Press P to go on."),
    button: t("Continue"),
  },
  filmFailed: {
    title: t("The film could not be loaded"),
    text: t("The clock is not running."),
    why: {
      line: t("Check the connection, then try again."),
      refused: t("The server cannot give it out just now. If trying again does not help, tell your coordinator."),
      unreadable: t("It arrived, but cannot be read. If trying again does not help, tell your coordinator."),
      unshowable: t("This film is too large for this computer's graphics; tell your coordinator."),
    },
    button: t("Try again"),
  },
  alone: {
    title: t("Are you still there?"),
    text: t("Nobody has used this computer for nearly two hours. In five minutes you will be signed out; your answers are kept."),
    button: t("Stay signed in"),
  },
  signedOut: {
    title: t("You are signed out here"),
    text: (n) => (n ? tn("Sign in again to go on; {n} answer is kept on this computer.",
      "Sign in again to go on; {n} answers are kept on this computer.", n) : t("Sign in again to go on.")),
    button: t("Sign in again"),
  },
  otherReader: {
    title: t("Another reader has signed in on this computer"),
    text: (n) => (n ? tn("{n} answer of yours will be sent when you sign in here again.",
      "{n} answers of yours will be sent when you sign in here again.", n) : t("Your answers are all saved.")),
    button: t("Go to the page of the reader now signed in"),
  },
  left: {
    title: t("You have left this study"),
    text: (n) => [
      t("What you had read until then is kept."),
      n ? tn("{n} answer came too late for it.", "{n} answers came too late for it.", n) : t("Thank you."),
    ].join(" "),
    button: t("To the sign-in page"),
  },
  twoWindows: {
    open: {
      title: t("Reading is open in another window"),
      text: t("Go on there, or take the case over into this window."),
      button: t("Go on here"),
    },
    gone: {
      title: t("Reading went on in another window"),
      text: t("The film is hidden here and the clock of this window stands still."),
      button: t("Go on here"),
    },
  },
  leaving: {
    title: t("Sign out now?"),
    text: (n) => tn("{n} answer is not sent yet. They stay on this computer and are sent when you sign in here again.",
      "{n} answers are not sent yet. They stay on this computer and are sent when you sign in here again.", n),
    button: t("Stay"),
    leave: t("Sign out"),
  },
  review: {
    title: t("Review your answers, or finish"),
    text: (n) => [
      tn("You have answered the only case.", "You have answered all {n} cases.", n),
      t("You can still go back and change them. Once you finish, they can no longer be changed."),
    ].join(" "),
    review: t("Review"),
    finish: t("Finish"),
    choose: t("Press 1 to review or 2 to finish, then Enter."),
  },
  smallWindow: {
    title: t("This window is too small for reading"),
    /** @param {number[]} size @param {number[]} smallest */
    text: ([width, height], [one, other]) => t("It is {width} × {height} pixels now. This study needs at least "
      + "{long} × {short}, either way round.",
    { width, height, long: Math.max(one, other), short: Math.min(one, other) }),
    remedy: t("Make the window larger, press F11 for the whole screen, or set the page's zoom to 100 % (Ctrl and 0). The "
      + "page continues by itself as soon as there is room. If this screen is too small, please sign in on a larger one."),
    touch: t("Please sign in on a computer, or on a larger tablet. Your access code works there too."),
    anyway: t("Continue anyway"),
  },
  finished: {
    title: t("Thank you"),
    text: (n, study) => [
      t("You have been through every case of “{study}”.", { study }),
      tn("{n} case is stored, with your answers and their times.",
        "{n} cases are stored, with your answers and their times.", n),
    ].join(" "),
    nothingLeft: t("Nothing of them is left on this computer."),
    scoreCard: t("When the study is closed, sign in here again: your own answers will be set beside the reference "
      + "standard, case by case."),
  },
  receipt: {
    title: t("Your receipt"),
    why: t("Copy it, print it or mail it to yourself. With it anybody can check later that your answers are still the "
      + "ones you gave. It does not say how many were right."),
    copy: t("Copy"),
    copied: t("Copied"),
    mail: t("Mail it to yourself"),
    subject: (study) => t("Receipt for “{study}”", { study }),
  },
  help: {
    title: t("Keys and mouse"),
    /**
     * @param {{letters: string, digits: string, steps: number, back?: boolean, comments?: boolean, skips?: boolean,
     *   wheel: string, left: string}} facts
     * @returns {[string, string[][]][]}
     */
    groups: ({ letters, digits, steps, back, comments, skips, wheel, left }) => [
      [t("Answer"), [
        [steps ? letters : t("{letters} or {digits}", { letters, digits }), t("choose")],
        ...(steps ? [[`1 – ${steps}`, t("how sure, once an answer is chosen")]] : []),
        [t("Enter"), t("confirm")],
        ...(skips ? [["N", t("cannot answer: say why, Esc returns")]] : []),
        ...(comments ? [["T", t("write a comment, Esc returns")]] : []),
        ...(back ? [[t("Backspace"), t("the case before")]] : []),
        ["P", t("pause, film hidden")],
        [t("Page ↑ ↓"), t("scroll the question")],
      ]],
      [t("Film by key"), [
        ["+  −", t("zoom")],
        ["← ↑ → ↓", t("move")],
        [t("Shift + arrows"), t("window and level")],
        ["W", t("next window: full, 1–99 %, soft, hard")],
        ["I", t("invert")],
        ["Z", t("1:1, again: whole film")],
        ["0", t("whole film")],
        ["V", t("one view alone, or all")],
        ["Y", t("mirror: film under the pointer, or all")],
        ["X", t("swap films")],
        ["K", t("films linked or separate")],
        ["M", t("magnifying glass, arrows move it")],
        ["Q", t("film only, and the question back")],
        ["R", t("reset: all as it came")],
      ]],
      [t("Measure"), [
        ["J", t("begin or stop; drag a line, or its ends")],
        ["U", t("a line by key")],
        ["← ↑ → ↓", t("move the marked end")],
        ["O", t("mark the next end")],
        [t("Delete, Backspace"), t("remove the line")],
        [t("Esc"), t("remove all lines")],
      ]],
      [t("Film by mouse"), [
        [t("Wheel"), wheel === "pan" ? t("move; with Shift zoom") : t("zoom at the pointer; with Shift move")],
        [t("Left drag"), left === "pan" ? t("move") : t("window and level")],
        [t("Right drag"), t("zoom")],
        [t("Shift/Space + drag"), left === "pan" ? t("window and level (also middle button)")
          : t("move (also middle button)")],
        [t("Double click"), t("whole film")],
        [t("Touch"), t("one finger moves, two zoom")],
      ]],
      [t("Page"), [
        ["L", t("light or dark panel")],
        ["S", t("settings: wheel, mouse, views, panel")],
        ["?", t("this list")],
        [t("Esc"), t("close")],
      ]],
    ],
  },
  settings: {
    title: t("Settings"),
    note: t("Kept on this computer for you alone."),
    wheel: { title: t("Wheel"), zoom: t("zooms at the pointer"), pan: t("moves the film up and down") },
    left: { title: t("Left mouse button"), window: t("window and level"), pan: t("moves the film") },
    views: {
      title: t("Films side by side"), separate: t("each by itself"),
      linked: t("linked: zoom, move and window act on all"),
    },
    panel: { title: t("Panel"), dark: t("dark"), light: t("light") },
  },
  said: {
    chosen: (option) => t("{option} chosen", { option }),
    sure: (step, steps) => t("{step} of {steps}", { step, steps }),
    paused: t("Paused"),
    loading: t("Loading"),
    finished: t("All cases are read"),
  },
};
