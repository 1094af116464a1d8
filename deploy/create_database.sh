#!/bin/sh
# Creates the accounts and the database of docs/postgresql.md as the administrator of a server. The
# image of PostgreSQL runs it at its first start; POSTGRES_PASSWORD is the password of the accounts.
set -eu
psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=password="$POSTGRES_PASSWORD" \
  --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
CREATE ROLE reading_room LOGIN PASSWORD :'password';
CREATE ROLE reading_room_staff NOLOGIN;
CREATE ROLE reading_room_desk LOGIN PASSWORD :'password';
GRANT reading_room_staff TO reading_room;
CREATE DATABASE reading_room OWNER reading_room TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C';
SQL
