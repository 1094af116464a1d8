/**
 * Types of the data exchanged between the server and the page, and between the modules; no code.
 *
 * @typedef {{option: string, text: string}} Option  one answer as shown; `option` is the shown letter
 * @typedef {{name: string, value: string}} Context one line next to the question, such as Age
 * @typedef {{url: string, label: string, width: number, height: number, bits: number,
 *   low: number, high: number, spacing_mm: number|null, prior: string}} View  one film, its initial
 *   window, the millimetres of the detector to one of its pixels, and the label of a film of an earlier examination,
 * such as "Prior, 3 months earlier"; empty for a current film
 * @typedef {{id: string, option: string|null, words?: string|null, confidence: number|null, comment: string|null,
 *   faulty?: boolean, status: string}} OwnReading the earlier answer of this reader; words: the text for an open-ended
 * case
 * @typedef {{case: string, position: number, question: string, condition: string,
 *   options: Option[], context: Context[], views: View[], presented: boolean,
 *   practice: boolean, reading: OwnReading|null, stage?: 1|2, aid?: Aid,
 *   before?: {option: string|null, confidence: number|null}|null}} Case  stage: of sequential reading, whose two stages
 *   are two cases at one position; before: in stage 2, the reader's answer of stage 1
 * @typedef {{view: number, x: number, y: number, width: number, height: number, label: string}} AidBox  on a current
 *   view, in fractions of the image
 * @typedef {{view: number, rows: number[][]}} HeatMap  equally long rows of numbers from 0 to 1 that cover the image
 * @typedef {{boxes: AidBox[], map: HeatMap[]}} AidMarks  drawn on the images
 * @typedef {{when: "first"|"on demand"|"after", html: string,
 *   content: null|{missing: boolean, answer: string|null, confidence: number|null, explanation: string|null,
 *     boxes: AidBox[], map?: HeatMap[]}}} Aid  the answer of a model; content: null until the reader may see it; answer: the letter as
 *   shown, null if the protocol does not show it; confidence: from 0 to 1
 * @typedef {{confidence_steps: number, comments: boolean, fault_marks: boolean, back_navigation: boolean,
 *   time_limit_s: number, feedback: "never"|"after case"|"after study", score_card: "own"|"peers",
 *   cannot_answer: boolean, break_every: number,
 *   smallest_window: number[], numbered?: boolean}} Rules  numbered: options are shown and chosen by their number,
 *   because the question has letters of its own
 * @typedef {{id: string, question: string, kind: "choice"|"number"|"text", options: string[],
 *   required: boolean, shown_if?: {question: string, is: string}}} Question  to the reader, before the first case;
 *   shown_if: only after this answer to an earlier question
 * @typedef {{step: "consent"|"instructions"|"questionnaire"|"display", html?: string,
 *   questions?: Question[]}} PreparationStep
 * @typedef {{seal: string, study: string, reader: string, notice: string, total: number,
 *   read: number, finished: boolean, rules: Rules,
 *   practice_total: number, preparation: PreparationStep[],
 *   session: number, sessions: number, review: boolean, hold: ""|"washing out"|"paused"|"lapsed"|"closed"|"withdrawn",
 *   opens_at_utc: string|null, opens_in_ms: number|null,
 *   stored: number, receipt: string, debriefing?: string, session_feedback?: string,
 *   cases: Case[]}} Desk the reader's position in this session: the current case and the next two, or none during a
 * hold;
 *   stored: how many of this reader's records the server has; debriefing: shown at the end;
 *   session_feedback: shown between two sessions
 *
 * @typedef {{id: string, kind: "presentation"|"reading"|"preparation"|"finish"|"aid request", case?: string, [field: string]: any}} Record
 * @typedef {{option: string, correct: boolean|null, explanation: string}} ReferenceAnswer  of an open-ended case the
 *   text of the reference answer, and no verdict
 * @typedef {{stored: string[], refused: {id: string, why: string}[],
 *   feedback: {[id: string]: ReferenceAnswer}, desk: Desk}} Receipt  the server's answer to records
 *
 * @typedef {{option: string|null, words: string, confidence: number|null, comment: string, faulty: boolean}} Answer in
 * its current state
 * @typedef {Answer & {n: number, item: Case, committed: boolean, touched: boolean, paused: boolean,
 *   resumed: boolean, asked?: boolean}} Shown  a case brought to the screen; asked: the model's answer was requested;
 * n: the number of the case; committed: the answer is confirmed; touched: there was input since the case was shown;
 * paused: by the reader; resumed: begun before a reload
 * @typedef {{chosen: number, words: string}} Reasons for not answering a case: the chosen reason, -1 for none yet
 *
 * @typedef {"idle"|"empty"|"sending"|"kept"|"unkept"} OutboxState  idle: nothing was sent yet; unkept: waiting, and
 * only in the memory of this page
 *
 * @typedef {{response_ms: number, elapsed_ms: number, hidden_ms: number, paused_ms: number}} Times
 * @typedef {{low: number, high: number}} Window the grey values shown as black and as white
 * @typedef {{samples: Uint8Array|Uint16Array, width: number, height: number}} Pixels
 * @typedef {Pixels & {auto: Window, own?: boolean}} Film opened with the window of its file, if it has one
 * @typedef {{x: number, y: number, width: number, height: number}} Rect  in device pixels
 * @typedef {{scale: number, x: number, y: number, fit: boolean}} ZoomPan  device pixels per film pixel, and
 *   the film point in the middle of the pane
 */
export {};
