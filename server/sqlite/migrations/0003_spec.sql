-- A long spec, compressed like a chunk. The bit 2 of session.live is set for sessions with a row
-- here, whose session.spec is empty: the summary is written far more often. Rows of earlier versions
-- have their spec in session.spec, until they are written again.
CREATE TABLE spec (
	n    INTEGER PRIMARY KEY,
	crc  INTEGER NOT NULL,
	data BLOB NOT NULL
);

-- The turns that a closed store has left to merge; key is n<<40|first.
CREATE TABLE unmerged (
	key  INTEGER PRIMARY KEY,
	last INTEGER NOT NULL
);
