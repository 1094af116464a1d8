"""Checks which controls of a page can be reached with Tab, and whether their focus is visible."""

from playwright.sync_api import Page

CONTROLS = """() => {
  // Elements are identified by text, because a rerun of the page may replace them.
  // Tab reaches one button of a choice, arrows reach the others: they count as one control.
  const group = (one) => one.closest('[data-testid=stButtonGroup]');
  window.rrName = (one) => group(one) ? `choice ${group(one).textContent}`
    : [one.tagName, one.ariaLabel, one.name, one.textContent.trim()]
      .filter(Boolean).join(' ').slice(0, 120);
  const found = new Set();
  const look = (root) => {
    for (const one of root.querySelectorAll('*')) {
      if (one.shadowRoot) look(one.shadowRoot);
      const usable = one.matches('a[href], button, input, select, textarea, summary')
        && !one.disabled && one.tabIndex >= 0 && one.type !== 'hidden'
        && one.checkVisibility({ visibilityProperty: true, opacityProperty: true })
        && !one.closest('[inert], [aria-hidden=true]');
      const other = one.type === 'radio' && !one.checked;
      if (usable && !other && one.getBoundingClientRect().width > 0) found.add(window.rrName(one));
    }
  };
  look(document);
  window.rrLeft = found;
  window.rrUnseen = [];
  return found.size;
}"""
STEPS = """() => {
  // The page itself checks at each release of Tab, which saves two messages per step.
  const seen = (one) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
    return (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
  };
  const step = () => {
    let here = document.activeElement;
    while (here?.shadowRoot?.activeElement) here = here.shadowRoot.activeElement;
    let shown = false;
    for (let one = here, up = 0; one && up < 5; one = one.parentElement, up += 1) {
      shown ||= seen(one);
    }
    const own = window.rrLeft.delete(window.rrName(here));
    if (own && !shown) window.rrUnseen.push(window.rrName(here));
  };
  step();  // the last click may have set the focus
  window.rrUnseen = [];
  window.rrSteps?.abort();
  window.rrSteps = new AbortController();
  window.addEventListener('keyup', step, { capture: true, signal: window.rrSteps.signal });
}"""
AT_ONCE = 10


def unreached(page: Page) -> tuple[list[str], list[str]]:
    """Press Tab through a page; return controls that are not reached, and those without focus."""
    number = page.evaluate(CONTROLS)
    page.evaluate(STEPS)
    for press in range(3 * number + 30):
        page.keyboard.press("Tab")
        if press % AT_ONCE == AT_ONCE - 1 and not page.evaluate("window.rrLeft.size"):
            break
    left, unseen = page.evaluate("[[...window.rrLeft], window.rrUnseen]")
    page.evaluate(
        "document.activeElement.blur()"
    )  # a link that is visible on focus would cover others
    return left, unseen
