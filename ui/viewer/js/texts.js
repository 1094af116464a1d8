/** Every word the reading page says, in one place, so that it can be translated. */

const plural = (n, one, many) => `${n} ${n === 1 ? one : many}`;
const round = (value) => Math.round(value).toString();
const stepWords = (step) => (step === null ? "none" : `${step} of 256 greys`);

export const texts = {
  labels: {
    room: "Reading room",
    films: "Films",
    noFilm: "This question is asked without the film.",
    question: "Question",
    progress: "Cases read",
    confidence: "How sure are you?",
    sureLeast: "not at all",
    sureMost: "certain",
    comment: "Comment",
    reasons: "Why can it not be answered?",
    confirm: "Confirm",
    tools: "Film tools",
    fit: "Fit",
    actualSize: "1:1",
    invert: "Invert",
    window: "Window",
    view: "View",
    reset: "Reset",
    back: "Back",
    pause: "Pause",
    help: "Keys",
    signOut: "Sign out",
    close: "Close",
  },
  position: (n, total) => `Case ${n} of ${total}`,
  practice: (n, total) => `Practice ${n} of ${total}`,
  revisited: (status) => (status === "skipped" ? "given up before" : "read before"),
  countdown: (left_s) => `${Math.floor(left_s / 60)}:${String(left_s % 60).padStart(2, "0")} left`,
  confirmNext: "Next case",
  outbox: {
    idle: "",
    empty: "Saved",
    sending: "Saving…",
    kept: "Kept on this computer, will be sent",
    unkept: "Not sent yet: please keep this page open",
  },
  canvas: "Simple display in use (no WebGL)",
  reader: (code) => `Reader ${code}`,
  keys: { enter: "Enter ↵", escape: "Esc", space: "Space" },
  cannotAnswer: {
    label: "Cannot answer",
    key: "N",
    back: "Back to the answers",
    backKey: "Esc",
    title: "Why can it not be answered?",
    reasons: ["Film quality", "Question unclear", "No option fits", "Something else"],
    other: "In a few words",
  },
  conditions: {
    "image-absent": "From here the questions come without the film.",
    unaided: "From here the questions come with the film.",
    aided: "From here the questions come with the film and with aid.",
  },
  begin: (n, { feedback }) => ({
    title: "The study begins",
    text: `${plural(n, "case", "cases")}, from now on ${{
      "after case": "with the reference answer after each one",
      "after study": "with feedback at the end only",
      never: "without feedback",
    }[feedback]}. The clock starts with the first film.`,
    button: "Begin",
  }),
  rest: (read, total, turned) => ({
    title: "A good moment for a break",
    text: [`${read} of ${total} read.`, turned, "The clock stands still; Enter goes on."].filter(Boolean).join(" "),
    button: "Go on",
  }),
  block: (turned) => ({
    title: "The next part",
    text: `${turned} The clock stands still; Enter goes on.`,
    button: "Go on",
  }),
  preparation: {
    count: (n, total) => `Step ${n} of ${total}`,
    onward: "Continue",
    begin: "To the cases",
    consent: {
      title: "Consent",
      agree: "I agree",
      disagree: "I do not agree",
      choose: "Press 1 to agree or 2 not to agree, then Enter.",
    },
    declined: {
      title: "You have not agreed",
      text: "No case is shown to you, and nothing about you is recorded. You can sign out, or read the consent once "
        + "more. If you have questions, ask your coordinator.",
      back: "Back to the consent",
    },
    instructions: { title: "Instructions" },
    questionnaire: {
      title: "About you",
      needed: "required",
      optional: "may be left out",
      faults: {
        choice: "Choose one of these.",
        number: "Enter a number.",
        noNumber: "This is not a number: use digits only.",
        text: "A few words are needed here.",
      },
      missing: (n) => `${plural(n, "answer is", "answers are")} missing.`,
    },
    display: {
      title: "Your screen",
      text: "A faint disc lies at the top, right, bottom or left of the field. Press 1 to 4, an arrow key, or tap the "
        + "place where you see it. If you cannot see it, press Space: nobody sees all of them.",
      unseen: "I cannot see it",
      places: "Where is the disc?",
      place: ["1, top", "2, right", "3, bottom", "4, left"],
      field: (name) => `${name} field with a faint disc`,
      result: ({ dark, bright }) => [
        ["Faintest step seen on dark", stepWords(dark)],
        ["Faintest step seen on bright", stepWords(bright)],
      ],
      good: "This will do for reading films.",
      advice: {
        zoom: ({ page_zoom, pinch_zoom }) => `The page is zoomed to about ${Math.round(100 * (page_zoom ?? 1)
          * (pinch_zoom ?? 1))} %. Set it to 100 % (Ctrl and 0), so that films keep their sharpness.`,
        window: ({ viewport_width, viewport_height }) => `The window is ${viewport_width} × ${viewport_height}. `
          + "Films want at least 1280 × 720: make it larger, or press F11 for the whole screen.",
        dark: () => "Faint shades in dark parts get lost. Dim the room, keep lights and windows off the screen, and "
          + "turn its brightness up.",
        bright: () => "Faint shades in bright parts get lost. Turn the contrast of the screen down a little, or its "
          + "brightness.",
      },
      again: "Check again",
    },
  },
  plate: ({ window, zoom, preset, inverted }) => [
    `W ${round(window.high - window.low)}  L ${round((window.high + window.low) / 2)}`,
    preset && preset !== "full" ? { auto: "1–99 %", soft: "soft", hard: "hard" }[preset] : "",
    `${round(zoom * 100)} %`,
    inverted ? "inverted" : "",
  ].filter(Boolean).join("   "),
  hints: {
    chooseFirst: "Choose an answer first.",
    sayHowSure: (steps) => `How sure are you? 1 to ${steps}, then Enter.`,
    enterNext: (steps) => `Enter, then 1 to ${steps}`,
    refused: (why) => `An answer was not taken: ${why}`,
    wrongOrigin: "The server takes no answers from this address. They stay on this computer; tell your coordinator.",
    notTaken: (why) => `Your answers were not taken (${why}). They stay on this computer; tell your coordinator.`,
    readElsewhere: "The case you had before you was read in another window; your first answer stands.",
    chooseReason: "Choose a reason first.",
    reasonWords: "Say in a few words why.",
    earlierFailed: "The earlier case cannot be fetched just now.",
  },
  feedback: {
    right: "That is the reference answer.",
    wrong: (option) => `The reference answer is ${option}.`,
    timedOut: (option) => `Time is up. The reference answer is ${option}.`,
  },
  loading: {
    opening: "Opening the reading room…",
    film: "Loading the film…",
    waiting: "Waiting for the connection. Your answers are kept.",
    saving: "Saving your answers…",
    noServer: "No connection to the server. Trying again…",
  },
  paused: {
    title: "Paused",
    text: "The film is hidden and the clock stands still.",
    button: "Go on",
  },
  absent: {
    title: "Are you still there?",
    text: "The time for the last cases ran out and nothing was touched. The next case waits; the clock stands still. "
      + "Press P to go on.",
    button: "Go on",
  },
  filmFailed: {
    title: "The film could not be loaded",
    text: "The clock is not running.",
    why: {
      line: "Check the connection, then try again.",
      refused: "The server cannot give it out just now. If trying again does not help, tell your coordinator.",
      unreadable: "It arrived, but cannot be read. If trying again does not help, tell your coordinator.",
      unshowable: "This film is too large for this computer's graphics; tell your coordinator.",
    },
    button: "Try again",
  },
  signedOut: {
    title: "You are signed out here",
    text: (n) => (n ? `Sign in again to go on; ${plural(n, "answer is", "answers are")} kept on this computer.`
      : "Sign in again to go on."),
    button: "Sign in again",
  },
  otherReader: {
    title: "Another reader has signed in on this computer",
    text: (n) => (n ? `${plural(n, "answer", "answers")} of yours will be sent when you sign in here again.`
      : "Your answers are all saved."),
    button: "Go to the page of the reader now signed in",
  },
  twoWindows: {
    open: {
      title: "Reading is open in another window",
      text: "Go on there, or take the case over into this window.",
      button: "Go on here",
    },
    gone: {
      title: "Reading went on in another window",
      text: "The film is hidden here and the clock of this window stands still.",
      button: "Go on here",
    },
  },
  leaving: {
    title: "Sign out now?",
    text: (n) => `${plural(n, "answer is", "answers are")} not sent yet. They stay on this computer and are sent `
      + "when you sign in here again.",
    button: "Stay",
    leave: "Sign out",
  },
  finished: {
    title: "Thank you",
    text: (n, study) => `You have been through every case of “${study}”. ${plural(n, "case is", "cases are")} stored, `
      + "with your answers and their times.",
    nothingLeft: "Nothing of them is left on this computer.",
    score: ({ n, n_correct }) => `${n_correct} of ${n} match the reference standard.`,
  },
  help: {
    title: "Keys and mouse",
    groups: ({ letters, digits, steps, back, comments, skips }) => [
      ["Answer", [
        [`${letters} or ${digits}`, "choose"],
        ["Enter", "confirm"],
        ...(steps ? [[`Enter, 1 – ${steps}`, "how sure you are"]] : []),
        ...(skips ? [["N", "cannot answer: say why, Esc returns"]] : []),
        ...(comments ? [["T", "write a comment, Esc returns"]] : []),
        ...(back ? [["Backspace", "the case before"]] : []),
        ["P", "pause, film hidden"],
        ["Page ↑ ↓", "scroll the question"],
      ]],
      ["Film by key", [
        ["+  −", "zoom"],
        ["← ↑ → ↓", "move"],
        ["Shift + arrows", "window and level"],
        ["W", "next window: full, 1–99 %, soft, hard"],
        ["I", "invert"],
        ["Z", "1:1, again: whole film"],
        ["0", "whole film"],
        ["V", "one view alone, or all"],
        ["R", "reset"],
      ]],
      ["Film by mouse", [
        ["Wheel", "zoom at the pointer"],
        ["Left drag", "window and level"],
        ["Right drag", "zoom"],
        ["Shift or Space + drag", "move (also middle button)"],
        ["Double click", "whole film"],
        ["Touch", "one finger moves, two zoom"],
      ]],
      ["Page", [
        ["L", "light or dark panel"],
        ["?", "this list"],
        ["Esc", "close"],
      ]],
    ],
  },
  said: {
    chosen: (option) => `${option} chosen`,
    paused: "Paused",
    loading: "Loading",
    finished: "All cases are read",
  },
};
