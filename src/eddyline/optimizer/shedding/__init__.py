"""How many rows of each source to keep where not all can be processed: settings of drop boxes.

Ayad and Naughton 2004, section 4. Boxes are at the sources only: anywhere else they drop rows on
which work has been spent, for the same results (Observations 2 and 3).
"""
