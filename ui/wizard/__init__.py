"""The steps in which a study is written, around one draft.

`frame` shows them, with the rail at the left and what it all means at the right; `draft` is the
draft in this window, saved whenever something changed.
"""
