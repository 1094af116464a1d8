"""Reading: the reader's desk, the records it takes in, sessions, flags, receipts, score card."""
