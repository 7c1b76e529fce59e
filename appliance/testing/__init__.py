"""The author's test kit: a whole box of fakes around one plugin, for pytest; needs neither network nor sound.

``appliance plugin test`` uses it; so does ``pytest -p appliance.testing.fixtures``.
"""
