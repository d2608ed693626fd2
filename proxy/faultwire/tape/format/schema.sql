-- A tape: an append-only log of canonical JSON records, and the bodies they name.
CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  record BLOB NOT NULL,
  hash BLOB NOT NULL
) STRICT;
CREATE INDEX events_by_session ON events (session);
CREATE TABLE blobs (
  digest BLOB PRIMARY KEY,
  size INTEGER NOT NULL,
  packed INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT;
