"""The roles of a PostgreSQL store, and the rights of each on its tables."""

import pg8000.native as pg

from study.base.errors import StudyError
from study.store import dialect, schema
from study.store.postgres_connection import SCHEMA, PostgresConnection
from study.store.postgres_silence import ServerError


def role_name(user: str, ending: str) -> str:
    """Return the name of the role ``staff`` or ``desk`` of the account that owns the tables."""
    return f"{user}_{ending}"


def make_roles(connection: PostgresConnection, user: str, password: str) -> None:
    """Create the roles that do not exist; readers' connections sign in as ``desk``.

    Raises
    ------
    StudyError
        The account may not create roles, or ``desk`` has other rights.
    """
    staff, desk = (pg.identifier(role_name(user, ending)) for ending in ("staff", "desk"))
    signs_in = "LOGIN PASSWORD {}"
    for ending, statements in (
        ("staff", (f"CREATE ROLE {staff} NOLOGIN", f"GRANT {staff} TO {pg.identifier(user)}")),
        ("desk", (f"CREATE ROLE {desk} {signs_in}",)),
    ):
        role_query = "SELECT 1 FROM pg_roles WHERE rolname = :name"
        if connection.execute(role_query, {"name": role_name(user, ending)}).fetchone():
            continue
        try:
            for statement in statements:
                connection.run(statement.format(pg.literal(password)))
        except ServerError as error:
            raise StudyError(
                f"The account {user} may not create roles. Run as an administrator of the server: "
                f"{'; '.join(statements).format(pg.literal('...'))}"
            ) from error
    check_desk(connection, user)


def check_desk(connection: PostgresConnection, user: str) -> None:
    """Refuse a role for readers' connections that could obtain the rights of another role."""
    desk = role_name(user, "desk")
    excessive_rights = connection.execute(
        "SELECT 1 FROM pg_roles WHERE rolname = :desk AND (rolsuper OR rolcreaterole "
        "OR rolreplication OR rolbypassrls OR NOT rolcanlogin "
        "OR EXISTS (SELECT 1 FROM pg_auth_members WHERE member = pg_roles.oid))",
        {"desk": desk},
    )
    if excessive_rights.fetchone():
        raise StudyError(
            f"The role {desk} must be able to log in, have no attributes and be a member of no "
            "role: readers' connections use it. See docs/postgresql.md."
        )


def lacks_version(connection: PostgresConnection, user: str) -> bool:
    """Return whether readers' connections may not read the version of the store."""
    rows = connection.execute(
        "SELECT 1 FROM pg_roles WHERE rolname = :desk "
        "AND NOT has_table_privilege(oid, 'store_version', 'SELECT')",
        {"desk": role_name(user, "desk")},
    )
    return rows.fetchone() is not None


def grant_rights(connection: PostgresConnection, user: str) -> None:
    """Give each role its rights on each table, and no others."""
    staff, desk = (pg.identifier(role_name(user, ending)) for ending in ("staff", "desk"))
    ((database,),) = connection.execute("SELECT quote_ident(current_database())")
    written_once = {*schema.REMOVED_WITH_STUDY, *schema.REMOVED_WITH_BANK}
    connection.run(f"REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC")
    connection.run(f"GRANT CONNECT ON DATABASE {database} TO {desk}")
    connection.run(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {staff}, {desk}")
    connection.run(f"GRANT SELECT ON ALL TABLES IN SCHEMA {SCHEMA} TO {staff}")
    connection.run(f"GRANT DELETE ON write_lock TO {staff}, {desk}")
    connection.run(f"GRANT SELECT ON store_version TO {desk}")
    for table in dialect.tables():
        rights = "INSERT, DELETE" if table in written_once else "INSERT, UPDATE, DELETE"
        connection.run(f"GRANT {rights} ON {table} TO {staff}")
        if table not in schema.SEALED_TABLES:
            connection.run(f"GRANT SELECT ON {table} TO {desk}")
        if table in schema.DESK_TABLES:
            connection.run(f"GRANT {rights} ON {table} TO {desk}")
    views = ", ".join((*schema.SHOWN_VIEWS.values(), "item_films", "folded_characters"))
    connection.run(f"GRANT SELECT ON {views} TO {desk}")
