"""Forms from the papers that the product does not choose, for the figures to compare with.

They implement the interfaces of the core, which does not import them.
"""
