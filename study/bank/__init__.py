"""Question banks from files: every item is validated, every film decoded, every fault listed.

`layout` finds the files, `fields` maps their keys, `terms` translates codes, `options` reads
letters, `images` opens films, `measures` reads sizes and days, and `items` assembles an item.
`reading` applies all of them, with a working file on disk. `study.base.bank_model` defines the
result.
"""
