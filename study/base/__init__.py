"""What every folder uses: canonical forms, translation, texts, errors, who acts, what a bank is."""
