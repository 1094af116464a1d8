"""Who may do what: access codes, signing in, roles, the roster, invitations, single sign-on."""
