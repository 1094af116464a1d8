"""At the top of every page of the staff: as whom one is signed in, and the way out."""

import streamlit as st

from study.base.translation import t
from study.people.roles import Role
from study.people.signing_in import Person
from ui import viewer
from ui.overview.trail import gone_back
from ui.parts.new_codes import new_codes
from ui.parts.theme import lost_line
from ui.server.access import sentence

_HTML = """
<div class="bar">
  <p></p>
  <form method="post" action="sign-out"><button type="submit"></button></form>
</div>
<p class="link" role="alert" hidden></p>
<div class="alone" role="alertdialog" hidden><p></p><button type="button"></button></div>
"""

_CSS = """
.bar { display: flex; align-items: center; justify-content: end; gap: .75rem;
  font: 400 .9rem/1.4 var(--st-font); color: var(--st-text-color); }
.bar p { margin: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
@media (min-width: 60rem) {
  .bar { position: fixed; inset-block: 0 auto; inset-inline: auto 4.5rem;
    height: 3.75rem; max-width: 50vw; z-index: 999991; }
}
.bar button { font: 500 .9rem/1.4 var(--st-font); padding: .35rem .8rem; color: inherit;
  border: 1px solid var(--rr-edge); border-radius: .5rem; background: none;
  text-decoration: none; cursor: pointer; white-space: nowrap; }
.bar button:focus-visible { outline: 3px solid var(--st-primary-color); outline-offset: 2px; }
.link { margin: .6rem 0 0; font: 500 1rem/1.4 var(--st-font); color: var(--st-text-color);
  border-inline-start: 4px solid var(--st-primary-color); padding-inline-start: .75rem; }
.alone { position: fixed; inset: auto 0 1.5rem; margin: auto; width: fit-content; z-index: 1000000;
  max-width: min(40rem, 90vw); display: flex; align-items: center; gap: 1rem; padding: 1rem;
  font: 500 1rem/1.4 var(--st-font); color: var(--st-text-color); border-radius: .5rem;
  background: var(--st-background-color); border: 2px solid var(--st-primary-color); }
.alone[hidden] { display: none; }
.alone p { margin: 0; }
.alone button { font: inherit; color: inherit; background: none; padding: .4rem .9rem;
  border: 1px solid var(--rr-edge); border-radius: .5rem; cursor: pointer; white-space: nowrap; }
@media print { .alone, .bar { display: none; } }
"""

_JS = """
const watches = new WeakMap();

// Codes are shown in this window alone: leaving it would lose those nobody has hidden.
const ask = (event) => {
  event.preventDefault();
  event.returnValue = "";
};

async function watch(parentElement, data) {
  const said = parentElement.querySelector(".alone");
  const url = new URL(`${data.modules_url}page/idle.js`, document.baseURI).href;
  try {
    const { watchOver } = await import(url);
    return watchOver("here", {
      warn: () => { said.hidden = false; },
      calm: () => { said.hidden = true; },
      ended: () => {
        removeEventListener("beforeunload", ask);
        location.reload();
      },
    });
  } catch (error) {
    console.error(error);
    return () => {};
  }
}

export default function ({ parentElement, data }) {
  (data.codes ? addEventListener : removeEventListener)("beforeunload", ask);
  parentElement.querySelector(".alone p").textContent = data.alone;
  parentElement.querySelector(".alone button").textContent = data.stay;
  if (!watches.has(parentElement)) watches.set(parentElement, watch(parentElement, data));
  parentElement.querySelector(".bar p").textContent = data.who;
  parentElement.querySelector("button").textContent = data.leave;
  if (new URLSearchParams(location.hash.slice(1)).has("code")) {
    history.replaceState(history.state, "", location.pathname + location.search);
    const said = parentElement.querySelector(".link");
    said.textContent = data.link;
    said.hidden = false;
  }
  const watching = watches.get(parentElement);
  return async () => {
    watches.delete(parentElement);
    (await watching)();
  };
}
"""


def masthead(person: Person) -> None:
    """Show who is signed in, with a button to sign out."""
    bar = st.components.v2.component("masthead", html=_HTML, css=_CSS, js=_JS)
    bar(
        key="masthead",
        data={
            "who": _who(person),
            "leave": t("Sign out"),
            "alone": t(
                "This computer has not been used for nearly two hours. You will be signed out in "
                "five minutes."
            ),
            "stay": t("Stay signed in"),
            "codes": bool(new_codes().waiting),
            "modules_url": viewer.modules_url(),
            "link": t(
                "This link is for a different person. Sign out first, then open it again. Anyone "
                "who runs a study cannot read in it."
            ),
        },
    )
    lost_line()
    gone_back(person)
    refused = sentence(str(st.query_params.get("refused", "")))
    if refused:
        st.error(refused)


def _who(person: Person) -> str:
    role = person.role if person.study is not None else person.deployment
    if role is None:
        return t("{name}: choose a study", name=person.name)
    return t("{name}, {role}", name=person.name, role=role_word(role))


def role_word(role: Role) -> str:
    """Return a role as people call it."""
    words = {
        Role.ADMINISTRATOR: t("administrator"),
        Role.COORDINATOR: t("coordinator"),
        Role.READER: t("reader"),
        Role.REVIEWER: t("reviewer"),
        Role.STATISTICIAN: t("statistician"),
    }
    return words[role]
