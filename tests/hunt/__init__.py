"""The hunt for wrong answers: random problems, an oracle that shares no code, and laws.

``problems`` draws data and a reducer with parameters of all kinds; ``oracle`` says, slowly, what
must come out; ``laws`` are what must not change. The tests try a few cases of each. ``make hunt``
goes on for as long as one likes.
"""
