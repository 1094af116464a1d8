/** Every word the reading page says, in one place, so that it can be translated. */

const plural = (n, one, many) => `${n} ${n === 1 ? one : many}`;
const round = (value) => Math.round(value).toString();

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
  revisited: "read before",
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
    earlierFailed: "The earlier case cannot be fetched just now.",
  },
  feedback: {
    right: "That is the reference answer.",
    wrong: (option) => `The reference answer is ${option}.`,
    unanswered: (option) => `Time is up. The reference answer is ${option}.`,
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
    text: (n, study) => `You have read every case of “${study}”. ${plural(n, "answer is", "answers are")} stored.`,
    score: ({ n, n_correct }) => `${n_correct} of ${n} match the reference standard.`,
  },
  help: {
    title: "Keys and mouse",
    groups: ({ letters, digits, steps, back, comments }) => [
      ["Answer", [
        [`${letters} or ${digits}`, "choose"],
        ["Enter", "confirm"],
        ...(steps ? [[`Enter, 1 – ${steps}`, "how sure you are"]] : []),
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
    ready: (n, total) => `Case ${n} of ${total}`,
    chosen: (option) => `${option} chosen`,
    paused: "Paused",
    loading: "Loading",
    finished: "All cases are read",
  },
};
