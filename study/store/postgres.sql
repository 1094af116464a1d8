-- Parts of a store that only PostgreSQL needs: the version, the lock of writers, and functions that are built into
-- SQLite. `folded_characters` has the forms of characters for comparison (study.base.text).

CREATE TABLE store_version (version bigint NOT NULL);

CREATE TABLE write_lock (held boolean);

CREATE TABLE folded_characters (
    symbol text PRIMARY KEY,
    folded text NOT NULL,
    lowered text NOT NULL
);

CREATE OR REPLACE FUNCTION number_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT coalesce(max(id), 0) + 1 FROM %s', TG_RELID::regclass) INTO NEW.id;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION number_rowid() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT coalesce(max(rowid), 0) + 1 FROM %s', TG_RELID::regclass) INTO NEW.rowid;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION json_valid(content text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
    PERFORM content::json;
    RETURN true;
EXCEPTION WHEN invalid_text_representation THEN
    RETURN false;
END $$;

CREATE OR REPLACE FUNCTION json_steps(path text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT string_to_array(ltrim(regexp_replace(substr(path, 2), '\[(\d+)\]', '.\1', 'g'), '.'), '.')
$$;

CREATE OR REPLACE FUNCTION json_extract(content text, path text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT content::json #>> json_steps(path)
$$;

CREATE OR REPLACE FUNCTION json_array_length(content text) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT CASE json_typeof(content::json) WHEN 'array' THEN json_array_length(content::json) ELSE 0 END
$$;

CREATE OR REPLACE FUNCTION json_each(content text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT json_array_elements_text(content::json)
$$;

CREATE OR REPLACE FUNCTION json_each(content text, path text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT json_array_elements_text(content::json #> json_steps(path))
$$;

CREATE OR REPLACE FUNCTION json_quote(value anyelement) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(to_json(value)::text, 'null')
$$;

CREATE OR REPLACE FUNCTION json_quote(value text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(to_json(value)::text, 'null')
$$;

CREATE OR REPLACE FUNCTION json_remove(content text, path text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT '{' || coalesce(string_agg(to_json(key)::text || ':' || value::text, ','), '') || '}'
    FROM json_each(content::json) WHERE key <> substr(path, 3)
$$;

CREATE OR REPLACE FUNCTION iif(condition boolean, yes text, no text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN condition THEN yes ELSE no END
$$;

CREATE OR REPLACE FUNCTION max(one bigint, other bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT greatest(one, other)
$$;

CREATE OR REPLACE FUNCTION unicode(symbol text) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT ascii(symbol)::bigint
$$;

CREATE OR REPLACE FUNCTION add_truth(total bigint, value boolean) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN value IS NULL THEN total ELSE coalesce(total, 0) + value::int END
$$;

CREATE OR REPLACE AGGREGATE sum(boolean) (SFUNC = add_truth, STYPE = bigint);

CREATE OR REPLACE FUNCTION id_key(content text) RETURNS text LANGUAGE plpgsql STABLE STRICT AS $$
BEGIN
    IF content ~ '[^ -~]' THEN
        content := normalize((
            SELECT coalesce(string_agg(coalesce(
                (SELECT folded FROM folded_characters WHERE symbol = given.symbol), given.symbol
            ), '' ORDER BY n), '')
            FROM string_to_table(content, NULL) WITH ORDINALITY AS given (symbol, n)
        ));
        content := regexp_replace(content, '[\u0009-\u000d\u001c-\u0020\u0085\u1680\u2028\u2029]+', ' ', 'g');
    ELSIF position(' ' IN content) = 0 THEN
        RETURN content;
    END IF;
    RETURN btrim(regexp_replace(content, ' +', ' ', 'g'), ' ');
END $$;

CREATE OR REPLACE FUNCTION text_key(content text) RETURNS text LANGUAGE plpgsql STABLE STRICT AS $$
BEGIN
    content := id_key(content);
    IF content ~ '[^ -~]' THEN
        RETURN (
            SELECT string_agg(coalesce(
                (SELECT lowered FROM folded_characters WHERE symbol = given.symbol),
                lower(given.symbol)
            ), '' ORDER BY n)
            FROM string_to_table(content, NULL) WITH ORDINALITY AS given (symbol, n)
        );
    END IF;
    RETURN lower(content);
END $$;

CREATE OR REPLACE FUNCTION mark(VARIADIC names text[]) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT ('x' || encode(substr(sha256(convert_to(array_to_string(names, E'\n'), 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint
$$;
