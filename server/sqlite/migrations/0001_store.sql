-- The record of the last run; see run_record.go.
CREATE TABLE opened (
	one        INTEGER PRIMARY KEY CHECK (one = 1),
	boot       TEXT NOT NULL,
	sync       TEXT NOT NULL,
	clean      INTEGER NOT NULL,
	generation TEXT NOT NULL
);

CREATE TABLE session (
	n       INTEGER PRIMARY KEY AUTOINCREMENT,
	id      TEXT NOT NULL UNIQUE,
	epoch   TEXT NOT NULL,
	created INTEGER NOT NULL, -- times are Unix nanoseconds
	live    INTEGER NOT NULL,
	spec    BLOB NOT NULL,
	summary BLOB NOT NULL,
	crc     INTEGER NOT NULL
);

-- Snapshots of the sessions whose head has one. The checksum covers the seq in the head.
CREATE TABLE snapshot (
	n    INTEGER PRIMARY KEY,
	crc  INTEGER NOT NULL,
	data BLOB NOT NULL
);

-- Numbers of removed sessions whose chunks, folds, turns and blobs are not deleted yet.
CREATE TABLE removed (n INTEGER PRIMARY KEY);

-- The seqs of the last event (0: none) and of the snapshot (-1: none). Every session has a row, so
-- lost rows can be told from rows that never existed.
CREATE TABLE head (
	n        INTEGER PRIMARY KEY,
	last     INTEGER NOT NULL,
	snapshot INTEGER NOT NULL,
	crc      INTEGER NOT NULL
);

-- Event lines first to last; key is n<<40|first.
CREATE TABLE chunk (
	key  INTEGER PRIMARY KEY,
	last INTEGER NOT NULL,
	crc  INTEGER NOT NULL,
	data BLOB NOT NULL
);

-- One line that joins the deltas first to last; key is n<<40|first.
CREATE TABLE fold (
	key  INTEGER PRIMARY KEY,
	last INTEGER NOT NULL,
	crc  INTEGER NOT NULL,
	data BLOB NOT NULL
);

-- A finished turn; key is n<<40|first.
CREATE TABLE turn (
	key     INTEGER PRIMARY KEY,
	last    INTEGER NOT NULL,
	turn    TEXT NOT NULL,
	message TEXT NOT NULL,
	reason  TEXT NOT NULL,
	ended   INTEGER NOT NULL,
	crc     INTEGER NOT NULL
);

CREATE TABLE answer (
	key     TEXT NOT NULL UNIQUE,
	session TEXT NOT NULL,
	hash    BLOB NOT NULL,
	at      INTEGER NOT NULL,
	crc     INTEGER NOT NULL,
	body    BLOB NOT NULL
);
CREATE INDEX answer_session ON answer (session);
CREATE INDEX answer_at ON answer (at);

CREATE TABLE decision (
	n       INTEGER NOT NULL,
	request TEXT NOT NULL,
	crc     INTEGER NOT NULL,
	data    BLOB NOT NULL,
	UNIQUE (n, request)
);

CREATE TABLE blob (
	n     INTEGER NOT NULL,
	id    TEXT NOT NULL,
	media TEXT NOT NULL,
	crc   INTEGER NOT NULL,
	data  BLOB NOT NULL,
	UNIQUE (n, id)
);

-- "group" is a keyword of SQL.
CREATE TABLE process (
	n     INTEGER NOT NULL,
	pid   INTEGER NOT NULL,
	start TEXT NOT NULL,
	crc   INTEGER NOT NULL,
	PRIMARY KEY (n, pid, start)
) WITHOUT ROWID;
