#!/bin/sh
# Make the service's role, once, when the database is new. It owns its database and is no superuser: those are above
# the row-level security that keeps projects apart.
set -eu
psql --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" << 'SQL'
\set password `cat /run/secrets/database-password`
CREATE ROLE faultwire LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD :'password';
REVOKE ALL ON DATABASE faultwire FROM PUBLIC;
ALTER DATABASE faultwire OWNER TO faultwire;
SQL
