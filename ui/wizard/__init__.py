"""The steps of the wizard that writes a study, based on a draft.

`frame` shows the steps, with the list of steps on the left and the consequences on the right;
`draft` is the draft in this window, saved after every change.
"""
