"""The wizard, in which a study is drafted step by step.

`frame` shows the current step, with the list of steps on the left and the consequences on the
right; `draft` contains the draft in this window, which is saved after every change.
"""
