-- What the last opener left behind; trust.go judges it.
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
	created INTEGER NOT NULL, -- Unix nanoseconds, as every time here
	live    INTEGER NOT NULL,
	spec    BLOB NOT NULL,
	summary BLOB NOT NULL,
	crc     INTEGER NOT NULL
);

-- Of the sessions whose head names one; the checksum covers the seq there.
CREATE TABLE snapshot (
	n    INTEGER PRIMARY KEY,
	crc  INTEGER NOT NULL,
	data BLOB NOT NULL
);

-- Numbers of removed sessions whose chunks, folds, turns and blobs are still to be swept.
CREATE TABLE removed (n INTEGER PRIMARY KEY);

-- How far each session is: the seq of its last event (0: none) and that of its snapshot (-1: none). It is there
-- for every session, so that lost rows are told from rows that never were.
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

-- One line for the run of deltas first to last; key is n<<40|first.
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
