"""What two answers to one item come to, given the reference standard."""

BOTH_RIGHT, ONLY_A, ONLY_B, SAME_WRONG, OTHER_WRONG, NOT_JUDGED = range(6)
OUTCOMES = 6
