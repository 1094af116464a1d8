"""Lets Streamlit look through the installed packages once, and not before every run of a page.

It looks for components and reads the metadata of each package, which takes longer than most pages.
"""

from functools import cache

from streamlit.components.v2 import manifest_scanner

if not hasattr(manifest_scanner.scan_component_manifests, "cache_info"):
    manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
