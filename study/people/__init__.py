"""People and permissions: access codes, sign-in, roles, invitations, single sign-on."""
