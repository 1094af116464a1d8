"""Reading: the reader's desk, accepted records, sessions, flags, receipts and score card."""
