"""Question banks from files: every item validated, every film decoded, every fault listed.

`source` reads files of records, `fields` knows the keys, `terms` the codes, `options` the letters,
`images` the folder, `measures` sizes and days, `items` puts an item together, `layout` finds the
files; `reading` does it all, on disk. `study.base.bank_model` says what comes out.
"""
