/** Texts for teaching, reviews and scorings, which have no timer and no readers. */

import { texts } from "./texts.js";
import { t, tn } from "./words.js";

const APART = {
  reader: (name) => name,
  position: (n, total) => t("Question {n} of {total}", { n, total }),
  begin: (n) => ({
    title: t("Ready to begin?"),
    text: [tn("{n} question.", "{n} questions.", n), t("Press P to pause, ? for all shortcuts.")].join(" "),
    button: t("Start"),
  }),
  onAgain: { title: t("Continue"), text: t("The next question is ready."), button: t("Continue") },
  paused: { title: t("Paused"), text: t("The image is hidden."), button: t("Continue") },
  filmFailed: { ...texts.filmFailed, text: "" },
  otherReader: {
    title: t("Someone else has signed in on this computer"),
    text: texts.otherReader.text,
    button: t("Go to their page"),
  },
  twoWindows: {
    open: {
      title: t("This page is open in another window"), text: t("Continue there, or move the question to this window."),
      button: t("Continue here"),
    },
    gone: {
      title: t("You have continued in another window"), text: t("The image is hidden here."), button: t("Continue here"),
    },
  },
};
/** Further texts for reviewers and scorers. */
const JUDGING = {
  labels: { ...texts.labels, progress: t("Questions judged") },
  hints: { ...texts.hints, chooseFirst: t("Choose a verdict first.") },
};
/** @type {{[of: string]: object}} */
const ROOMS = {
  teaching: APART,
  expert: { ...APART, ...JUDGING, reader: (name) => t("Reviewer {name}", { name }) },
  scoring: { ...APART, ...JUDGING, reader: (name) => t("Scorer {name}", { name }) },
};

const STUDY = { ...texts };

/** Use the texts of a room; the document may have shown another room before.
 *  @param {string} [of] the kind of room; a preview has the texts of its study */
export function wordsFor(of = "") {
  Object.assign(texts, STUDY, ROOMS[of]);
}
