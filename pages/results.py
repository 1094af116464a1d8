"""The results page: accuracy and agreement of the study as it stands, from its bundle alone."""

from ui.access import guard

person = guard("coordinator")
