"""What every folder uses: canonical hashes, timestamps, names, errors, who acts, translation."""
