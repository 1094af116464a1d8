/** All texts of the reading page in English, translated by the catalogue loaded with the page. */

import { language } from "./catalogue.js";
import { t, tn } from "./words.js";

/** @import { Window } from "./types.js" */
/** @typedef {{n: number, mean: number, sd: number, min: number, max: number}} GreyValues  see film/region.js */

const round = (value) => Math.round(value).toString();
const date = (utc) => new Date(utc).toLocaleString(language, { dateStyle: "full", timeStyle: "short" });
const decimal = (value, digits, useGrouping = true) =>
  value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping });
const greyValue = (value) => decimal(value, 1, false); // like the window's width and level
const stepWords = (step) => (step === null ? t("none") : t("{step} of 256 grey levels", { step }));

/** @type {{[preset: string]: string}} */
const presets = {
  full: t("full"), auto: "1–99 %", soft: t("soft"), hard: t("hard"), lungs: t("lungs"), bones: t("bones"),
};

export const texts = {
  labels: {
    room: t("Reading room"),
    films: t("Images"),
    noFilm: t("This question is asked without an image."),
    question: t("Question"),
    progress: t("Cases read"),
    confidence: t("How confident are you?"),
    sureLeast: t("not at all"),
    sureMost: t("completely"),
    comment: t("Comment"),
    answer: t("Your answer, in your own words"),
    answerKeys: t("Enter confirms, Shift + Enter starts a new line, Esc returns to the image."),
    faulty: t("This question is faulty"),
    reasons: t("Why can this case not be answered?"),
    confirm: t("Confirm"),
    aid: t("Output of an AI model"),
    askAid: t("Show the model's answer"),
    tools: t("Image tools"),
    fit: t("Fit"),
    actualSize: "1:1",
    invert: t("Invert"),
    window: t("Window"),
    glass: t("Magnifier"),
    flip: t("Mirror"),
    rotate: t("Rotate"),
    measure: t("Measure"),
    heart: t("CTR"),
    angle: t("Angle"),
    region: t("Region"),
    typedWindow: t("Window values"),
    link: t("Link"),
    swap: t("Swap"),
    compare: t("Prior"),
    onlyFilm: t("Image only"),
    showQuestion: t("Question"),
    settings: t("Settings"),
    view: t("View"),
    more: t("More"),
    reset: t("Reset"),
    back: t("Back"),
    pause: t("Pause"),
    help: t("Shortcuts"),
    signOut: t("Sign out"),
    close: t("Close"),
  },
  position: (n, total) => t("Case {n} of {total}", { n, total }),
  practice: (n, total) => t("Practice {n} of {total}", { n, total }),
  session: (n, total) => t("Session {n} of {total}", { n, total }),
  revisited: (status) => (status === "skipped" ? t("already read: cannot answer") : t("already read")),
  countdown: (left_s) => t("{minutes}:{seconds} left", {
    minutes: Math.floor(left_s / 60), seconds: String(left_s % 60).padStart(2, "0"),
  }),
  confirmNext: t("Next case"),
  stages: { 1: t("your own answer first"), 2: t("with the model's answer") },
  aid: {
    mark: t("AI"),
    waiting: t("Waiting for the model's answer…"),
    /** @param {{missing: boolean, answer: string|null, confidence: number|null}} content */
    answer: ({ missing, answer, confidence }) => {
      const percent = confidence === null ? "" : round(100 * confidence);
      if (missing) return t("No answer from the model.");
      if (answer === null) return percent ? t("The model's confidence: {percent} %", { percent }) : "";
      return percent ? t("The model's answer: {answer} (confidence {percent} %)", { answer, percent })
        : t("The model's answer: {answer}", { answer });
    },
  },
  outbox: {
    idle: "",
    empty: t("Saved"),
    sending: t("Saving…"),
    kept: t("Saved on this computer; will be sent"),
    unkept: t("Not sent: please keep this page open"),
  },
  canvas: t("Basic display in use (no WebGL)"),
  reader: (code) => t("Reader {code}", { code }),
  keys: { enter: t("Enter ↵"), escape: t("Esc"), space: t("Space") },
  cannotAnswer: {
    label: t("Cannot answer"),
    key: "N",
    back: t("Back to the options"),
    backToWords: t("Back to the answer"),
    backKey: t("Esc"),
    title: t("Why can this case not be answered?"),
    reasons: [t("Image quality"), t("Question unclear"), t("No option fits"), t("Something else")],
    ofOptions: 2, // the index of the reason that does not apply without options
    // Stored with the reading: the same in every language, because they are analysed together.
    kept: ["Film quality", "Question unclear", "No option fits", "Something else"],
    other: t("In a few words"),
  },
  conditions: {
    "image-absent": t("From here on, questions are shown without images."),
    unaided: t("From here on, questions are shown with images."),
    aided: t("From here on, questions are shown with images and AI assistance."),
    sequential: t("From here on, answer each question first; then you see a model's answer and can keep or change yours."),
  },
  afterWords: {
    "image-absent": t("From here on, choose one of the options. Questions are shown without images."),
    unaided: t("From here on, choose one of the options."),
  },
  inWords: t("Answer in your own words; there are no options to choose from."),
  begin: (n) => ({
    title: t("Ready to begin?"),
    text: [
      tn("{n} case.", "{n} cases.", n),
      t("The timer starts with the first image. Press P to pause, ? for all shortcuts."),
    ].join(" "),
    button: t("Start"),
  }),
  beginPractice: (n) => ({
    title: t("Practice first"),
    text: [
      tn("{n} case to get to know the viewer. You will see the reference answer afterwards; it " +
        "does not count.",
        "{n} cases to get to know the viewer. You will see the reference answer after each; they " +
        "do not count.", n),
      t("Press P to pause, ? for all shortcuts."),
    ].join(" "),
    button: t("Start"),
  }),
  beginAfterPractice: (n, { feedback }) => ({
    title: t("The study begins"),
    text: [{
      "after case": tn("{n} case. From now on, you will see the reference answer after each one.",
        "{n} cases. From now on, you will see the reference answer after each one.", n),
      "after study": tn("{n} case. From now on, feedback comes once the study is closed.",
        "{n} cases. From now on, feedback comes once the study is closed.", n),
      never: tn("{n} case. From now on, there is no feedback.", "{n} cases. From now on, there is no feedback.", n),
    }[feedback], t("The timer starts with the first image.")].join(" "),
    button: t("Start"),
  }),
  beginSession: ({ session, sessions, total, session_feedback: feedback = "" }, turned) => ({
    title: t("Session {n} of {total}", { n: session, total: sessions }),
    text: [feedback, tn("{n} case.", "{n} cases.", total), turned, t("The timer starts with the first image.")]
      .filter(Boolean).join(" "),
    button: t("Start"),
  }),
  onAgain: {
    title: t("Continue reading"),
    text: t("The next case is ready. The timer starts when you continue."),
    button: t("Continue"),
  },
  holds: {
    "washing out": ({ session, sessions, opens_at_utc, session_feedback: feedback = "" }) => ({
      title: t("Session {n} of {total} is complete", { n: session - 1, total: sessions }),
      lines: [
        t("Thank you. Your answers are saved."),
        feedback,
        opens_at_utc ? t("Session {n} opens on {date}.", { n: session, date: date(opens_at_utc) }) : "",
        t("This waiting period ensures that you do not recognise the cases."),
        t("You can sign out now, and sign in again with the same access code."),
      ],
    }),
    paused: () => ({
      title: t("Reading is paused"),
      lines: [
        t("Your coordinator has paused reading for now. Your answers are saved."),
        t("You can leave this page open: it will continue automatically. Or sign out and come " +
          "back later."),
      ],
    }),
    lapsed: ({ session, sessions }) => ({
      title: sessions > 1 ? t("The deadline for session {n} has passed", { n: session }) : t("The deadline for reading has passed"),
      lines: [
        t("Some cases have not been read yet. Your answers so far are saved."),
        t("Ask your coordinator for more time; you can then continue here."),
      ],
    }),
    closed: () => ({
      title: t("The study is closed"),
      lines: [t("No more cases can be read. Thank you: your answers have been saved.")],
    }),
    withdrawn: () => ({
      title: t("You have left this study"),
      lines: [t("You will not be shown any more cases. Your answers so far are saved.")],
    }),
  },
  rest: (read, total, turned) => ({
    title: t("A good moment for a break"),
    text: [t("{read} of {total} read.", { read, total }), turned, t("The timer is paused; press Enter to continue.")]
      .filter(Boolean).join(" "),
    button: t("Continue"),
  }),
  block: (turned) => ({
    title: t("Next part"),
    text: [turned, t("The timer is paused; press Enter to continue.")].join(" "),
    button: t("Continue"),
  }),
  preparation: {
    count: (n, total) => t("Step {n} of {total}", { n, total }),
    onward: t("Continue"),
    begin: t("Go to the cases"),
    consent: {
      title: t("Consent"),
      agree: t("I agree"),
      disagree: t("I do not agree"),
      choose: t("Press 1 to agree or 2 to decline, then Enter."),
    },
    declined: {
      title: t("You have not agreed to take part"),
      text: t("You will not be shown any cases, and nothing about you is recorded. You can sign out, " +
        "or read the consent form again. If you have questions, ask your coordinator."),
      back: t("Back to the consent form"),
    },
    instructions: { title: t("Instructions") },
    questionnaire: {
      title: t("About you"),
      needed: t("required"),
      optional: t("optional"),
      faults: {
        choice: t("Choose one of the options."),
        number: t("Enter a number."),
        noNumber: t("This is not a number. Use digits only."),
        text: t("Enter a few words."),
      },
      missing: (n) => tn("{n} answer is missing.", "{n} answers are missing.", n),
    },
    display: {
      title: t("Your screen"),
      text: t("A faint disc appears at the top, right, bottom or left of the field. Press 1 to 4 or an " +
        "arrow key, or tap where you see it. If you cannot see it, press Space. Nobody sees all " +
        "of them."),
      choose: t("Press 1 to 4 or an arrow key, or Space if you cannot see the disc."),
      unseen: t("I cannot see it"),
      places: t("Where is the disc?"),
      place: [t("1, top"), t("2, right"), t("3, bottom"), t("4, left")],
      field: (name) => (name === "dark" ? t("dark field with a faint disc") : t("bright field with a faint disc")),
      result: ({ dark, bright }) => [
        [t("Faintest difference seen in dark areas"), stepWords(dark)],
        [t("Faintest difference seen in bright areas"), stepWords(bright)],
      ],
      good: t("Your screen is suitable for reading."),
      /** @type {{[name: string]: (facts: {[name: string]: any}) => string}} */
      advice: {
        zoom: ({ page_zoom, pinch_zoom }) => t("The page zoom is about {percent} %. Set it to 100 % (Ctrl+0) so that images stay sharp.", { percent: Math.round(100 * (page_zoom ?? 1) * (pinch_zoom ?? 1)) }),
        window: ({ viewport_width, viewport_height }) => t("The window is {width} × {height} pixels. Images need at least 1280 × 720: make it " +
          "larger, or press F11 for full screen.",
        { width: viewport_width, height: viewport_height }),
        nothing: () => t("You did not see any of the discs: on this screen, as it is set up now, subtle " +
          "findings would be missed. Turn its brightness up, dim the room and keep light off the " +
          "screen, or use another screen. Then check again. If that does not help, tell your " +
          "coordinator before you continue."),
        dark: () => t("You missed faint differences in dark areas. Dim the room, avoid light and window " +
          "reflections on the screen, and turn its brightness up."),
        bright: () => t("You missed faint differences in bright areas. Turn the screen's contrast or " +
          "brightness down a little."),
      },
      again: t("Check again"),
    },
  },
  preview: {
    line: t("Preview: nothing is recorded"),
    ofArm: (arm) => t("Preview of the arm {arm}: nothing is recorded", { arm }),
    again: t("Start again"),
    leave: t("End preview"),
  },
  teaching: {
    line: t("Teaching: cases you miss come back"),
    leave: t("Stop here"),
  },
  expert: {
    line: t("Expert review"),
    leave: t("Stop here"),
  },
  scoring: {
    line: t("Scoring: the author of the words is not shown"),
    leave: t("Stop here"),
  },
  mirrored: t("MIRRORED"),
  rotated: (degrees) => t("ROTATED {n}°", { n: degrees }),
  current: t("Current"),
  scale: (mm) => (mm < 10 ? t("{n} mm", { n: mm }) : t("{n} cm", { n: mm / 10 })),
  ratio: (ratio) => t("CTR {ratio}", { ratio: decimal(ratio, 2) }),
  length: (mm) => t("{n} mm at the detector", { n: decimal(mm, 1) }),
  angle: (degrees) => `${decimal(degrees, 1)}°`,
  /** @param {GreyValues} values @param {number|null} area_mm2 null: the size of a pixel is unknown */
  region: ({ n, mean, sd, min, max }, area_mm2) => [
    t("mean {mean}, SD {sd}", { mean: greyValue(mean), sd: greyValue(sd) }),
    t("min {min}, max {max}", { min: round(min), max: round(max) }),
    area_mm2 ? t("{n} mm² at the detector", { n: decimal(area_mm2, area_mm2 < 100 ? 1 : 0) }) : tn("{n} pixel", "{n} pixels", n),
  ],
  /** @param {{window: Window, zoom: number, preset: string, inverted: boolean, swapped: boolean, linked: boolean,
   *  measuring: ""|"line"|"angle"|"region", grey: number|null}} state */
  paneState: ({ window, zoom, preset, inverted, swapped, linked, measuring, grey }) => [
    t("W {width}  L {level}", {
      width: round(window.high - window.low), level: round((window.high + window.low) / 2),
    }),
    presets[preset] ?? "",
    t("{n} %", { n: round(zoom * 100) }),
    inverted ? t("inverted") : "",
    swapped ? t("swapped") : "",
    linked ? t("linked") : "",
    { "": "", line: t("measuring"), angle: t("measuring angles"), region: t("measuring regions") }[measuring],
    grey === null ? "" : t("grey value {n}", { n: round(grey) }),
  ].filter(Boolean),
  hints: {
    chooseFirst: t("Choose an answer first."),
    chooseNumber: (n) => t("Press 1 to {n} to choose, not a letter.", { n }),
    writeFirst: t("Write an answer first."),
    sayHowSure: (steps) => t("How confident are you? Press 1 to {steps}, then Enter.", { steps }),
    sureKeys: (steps) => t("keys 1 to {steps}", { steps }),
    letterFirst: (steps) => t("First press a letter to choose an answer, then 1 to {steps} to rate your confidence.", { steps }),
    refused: (why) => t("An answer was not accepted: {why}", { why }),
    wrongOrigin: t("The server does not accept answers from this address. Your answers are saved on this " +
      "computer; tell your coordinator."),
    notTaken: (why) => t("Your answers were not accepted ({why}). They are saved on this computer; tell your " +
      "coordinator.",
      { why }),
    readElsewhere: t("The case you had open was read in another window; your first answer was recorded."),
    chooseReason: t("Choose a reason first."),
    reasonWords: t("Please say briefly why."),
    noSpacing: t("The pixel size of this image is unknown, so lengths cannot be measured."),
    shapesFull: (most) => t("Maximum {most} measurements. Press Delete to remove one.", { most }),
    earlierFailed: t("The earlier case cannot be loaded at the moment."),
  },
  translated: t("Your browser or an extension is translating this page. Turn translation off: the questions must be " +
    "read in their own words."),
  feedback: {
    right: t("That is the reference answer."),
    wrong: (option) => t("The reference answer is {option}.", { option }),
    timedOut: (option) => t("Time is up. The reference answer is {option}.", { option }),
  },
  loading: {
    opening: t("Opening the reading room…"),
    film: t("Loading the image…"),
    waiting: t("Waiting for the connection. Your answers are saved."),
    saving: t("Saving your answers…"),
    noServer: t("No connection to the server. Trying again…"),
  },
  paused: {
    title: t("Paused"),
    text: t("The image is hidden and the timer is paused."),
    button: t("Continue"),
  },
  absent: {
    title: t("Are you still there?"),
    text: t("Time ran out on the last cases without any input. The next case is waiting; the timer is " +
      "paused. Press P to continue."),
    button: t("Continue"),
  },
  filmFailed: {
    title: t("The image could not be loaded"),
    text: t("The timer is not running."),
    why: {
      line: t("Check the connection, then try again."),
      refused: t("The server cannot provide the image at the moment. If trying again does not help, tell " +
        "your coordinator."),
      unreadable: t("The image was received but cannot be read. If trying again does not help, tell your " +
        "coordinator."),
      unshowable: t("This image is too large for this computer's graphics hardware; tell your coordinator."),
    },
    button: t("Try again"),
  },
  alone: {
    title: t("Are you still there?"),
    text: t("This computer has not been used for nearly two hours. You will be signed out in five " +
      "minutes; your answers are saved."),
    button: t("Stay signed in"),
  },
  signedOut: {
    title: t("You have been signed out"),
    text: (n) => (n ? tn("Sign in again to continue; {n} answer is saved on this computer.",
      "Sign in again to continue; {n} answers are saved on this computer.", n) : t("Sign in again to continue.")),
    button: t("Sign in again"),
  },
  otherReader: {
    title: t("Another reader has signed in on this computer"),
    text: (n) => (n ? tn("Your {n} unsent answer will be sent when you sign in here again.",
      "Your {n} unsent answers will be sent when you sign in here again.", n) : t("All your answers have been saved.")),
    button: t("Go to the signed-in reader's page"),
  },
  left: {
    title: t("You have left this study"),
    text: (n) => [
      t("Your answers up to that point are saved."),
      n ? tn("{n} answer arrived too late to be saved.", "{n} answers arrived too late to be saved.", n) : t("Thank you."),
    ].join(" "),
    button: t("Go to the sign-in page"),
  },
  twoWindows: {
    open: {
      title: t("Reading is open in another window"),
      text: t("Continue there, or move the case to this window."),
      button: t("Continue here"),
    },
    gone: {
      title: t("Reading has continued in another window"),
      text: t("The image is hidden here and this window's timer is paused."),
      button: t("Continue here"),
    },
  },
  leaving: {
    title: t("Sign out now?"),
    text: (n) => tn("{n} answer has not been sent yet. It stays on this computer and will be sent when you " +
      "sign in here again.",
      "{n} answers have not been sent yet. They stay on this computer and will be sent when you " +
      "sign in here again.", n),
    button: t("Stay"),
    leave: t("Sign out"),
  },
  review: {
    title: t("Review your answers, or finish"),
    text: (n) => [
      tn("You have answered the only case.", "You have answered all {n} cases.", n),
      t("You can still go back and change your answers. Once you finish, they can no longer be " +
        "changed."),
    ].join(" "),
    review: t("Review"),
    finish: t("Finish"),
    choose: t("Press 1 to review or 2 to finish, then Enter."),
  },
  smallWindow: {
    title: t("This window is too small for reading"),
    /** @param {number[]} size @param {number[]} smallest */
    text: ([width, height], [one, other]) => t("It is currently {width} × {height} pixels. This study needs at least {long} × {short}, in " +
      "either orientation.",
    { width: `${width}`, height: `${height}`, long: `${Math.max(one, other)}`, short: `${Math.min(one, other)}` }),
    remedy: t("Make the window larger, press F11 for full screen, or set the page zoom to 100 % " +
      "(Ctrl+0). The page continues automatically once there is enough room. If this screen is " +
      "too small, please sign in on a larger one."),
    touch: t("Please sign in on a computer or a larger tablet. Your access code works there too."),
    anyway: t("Continue anyway"),
  },
  finished: {
    title: t("Thank you"),
    text: (n, study) => [
      t("You have completed every case in “{study}”.", { study }),
      tn("{n} case has been saved, with your answers and times.",
        "{n} cases have been saved, with your answers and times.", n),
    ].join(" "),
    nothingLeft: t("No study data remain on this computer."),
    scoreCard: t("Once the study is closed, sign in here again to see your answers beside the reference " +
      "standard, case by case."),
    record: t("Reading record to print or keep"),
    place: t("Your place among other readers appears when the study is closed."),
  },
  receipt: {
    title: t("Your receipt"),
    why: t("Copy it, print it or email it to yourself. It allows anyone to check later that your " +
      "answers have not been changed. It does not say how many were correct."),
    copy: t("Copy"),
    copied: t("Copied"),
    mail: t("Email it to yourself"),
    subject: (study) => t("Receipt for “{study}”", { study }),
  },
  help: {
    title: t("Keyboard and mouse shortcuts"),
    /**
     * @param {{letters: string, digits: string, words: boolean, steps: number, back?: boolean, comments?: boolean, marks?: boolean, skips?: boolean, aid?: boolean,
     *   wheel: string, left: string}} facts
     * @returns {[string, string[][]][]}
     */
    groups: ({ letters, digits, words, steps, back, comments, marks, skips, aid, wheel, left }) => [
      [t("Answer"), [
        ...(words ? [["A – H", t("write the answer (Esc to go back)")], [t("Shift + Enter"), t("new line in the answer")]]
          : [[!letters ? digits : steps ? letters : t("{letters} or {digits}", { letters, digits }), t("choose")]]),
        ...(steps ? [[`1 – ${steps}`, t("confidence, once an answer is chosen")]] : []),
        ...(words && !steps ? [] : [[t("Shift + digit"), t("where the digit's key prints + or −")]]),
        [t("Enter ↵"), t("confirm")],
        ...(skips ? [["N", t("cannot answer: give a reason (Esc to go back)")]] : []),
        ...(comments ? [["T", t("write a comment (Esc to go back)")]] : []),
        ...(marks ? [[t("Shift + T"), t("mark the question as faulty; your answer stays")]] : []),
        ...(aid ? [["⇧ M", t("show the model's answer; hide or show its marks on the image")]] : []),
        ...(back ? [[t("Backspace"), t("previous case")]] : []),
        ["P", t("pause and hide the image")],
        [t("Page ↑ ↓"), t("scroll the question")],
      ]],
      [t("Image: mouse and touch"), [
        [t("Wheel"), wheel === "pan" ? t("pan (zoom with Shift)") : t("zoom at the pointer (pan with Shift)")],
        [t("Left drag"), left === "pan" ? t("pan") : t("window and level")],
        [t("Right drag"), t("zoom")],
        [t("Shift/Space + drag"), left === "pan" ? t("window and level (also middle button)")
          : t("pan (also middle button)")],
        [t("Double-click"), t("one view or all views")],
        [t("Touch"), t("one finger pans, two fingers zoom")],
      ]],
      [t("Image: keyboard"), [
        ["+  −", t("zoom")],
        ["← ↑ → ↓", t("pan")],
        [t("Shift + arrows"), t("window and level")],
        ["W", t("next window preset")],
        ["F2 F3 F4", `${presets.full}, ${presets.auto}, ${presets.soft}`],
        ["F6 F7 F8", `${presets.hard}, ${presets.lungs}, ${presets.bones}`],
        ["⇧ W", t("type the window as numbers")],
        ["I", t("invert")],
        ["Z", t("1:1; press again to fit")],
        ["0", t("fit to window")],
        ["V", t("one view or all views")],
        ["⇧ V", t("current images alone, or next to prior ones")],
        ["Y", t("mirror the image under the pointer, or all")],
        ["⇧ Y", t("rotate it by 90° to the right, or all")],
        ["X", t("swap images, or current and prior ones")],
        ["K", t("link or unlink images")],
        ["M", t("magnifier (arrow keys move it)")],
        ["Q", t("image only, or with the question")],
        ["R", t("reset everything")],
      ]],
      [t("Measure"), [
        ["J", t("start or stop; drag to draw a line or move its ends")],
        ["⇧ J", t("cardiothoracic ratio: drag the spans to heart and inner chest")],
        ["⇧ U", t("angle: drag two lines; from an end for three points")],
        ["⇧ O", t("region: drag an ellipse for its grey values and area")],
        ["U", t("draw a line, angle or region with the keyboard")],
        ["← ↑ → ↓", t("move the selected point")],
        ["O", t("select the next point")],
        [t("Delete, Backspace"), t("remove the selected measurement")],
        [t("Esc"), t("remove all measurements")],
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
    note: t("Saved on this computer, for you only."),
    wheel: { title: t("Wheel"), zoom: t("zooms at the pointer"), pan: t("pans the image up and down") },
    left: { title: t("Left mouse button"), window: t("window and level"), pan: t("pans the image") },
    views: {
      title: t("Images side by side"), separate: t("separate"),
      linked: t("linked: zoom, pan and window apply to all"),
    },
    sizes: {
      title: t("Frontal and lateral, current and prior"), frontal: t("the first one larger (X swaps)"), equal: t("equally large"),
    },
    windows: {
      title: t("Window for the next case"), reset: t("as each image opens"), keep: t("keep my window for each view"),
    },
    panel: { title: t("Panel"), dark: t("dark"), light: t("light") },
  },
  typedWindow: {
    title: t("Window values"),
    notes: { only: "", one: t("For the image under the pointer."), every: t("For all images.") },
    width: t("Width (W)"),
    level: t("Level (L)"),
    apply: t("Apply"),
    faults: { number: t("This is not a number. Use digits only."), width: t("The width must be larger than 0.") },
  },
  said: {
    chosen: (option) => t("{option} chosen", { option }),
    sure: (step, steps) => t("{step} of {steps}", { step, steps }),
    faulty: (faulty) => (faulty ? t("Question marked as faulty") : t("Mark removed")),
    paused: t("Paused"),
    loading: t("Loading"),
    finished: t("All cases have been read"),
  },
};
