package sqlite

import "zombiezen.com/go/sqlite"

// saveUnmerged writes the turns that wait for a merge, for the next run. A killed process does not
// call it: the next process ends and merges its open turns, and the few ended ones that still
// waited stay unmerged.
func saveUnmerged(conn *sqlite.Conn, turns []turnRange) error {
	for _, t := range turns {
		n, err := sessionNumber(conn, t.session)
		if ignoreMissing(err) != nil {
			return err
		}
		if err != nil {
			continue
		}
		err = prepare(conn, "INSERT OR REPLACE INTO unmerged (key, last) VALUES (?, ?)").
			int(key(n, t.first)).int(int64(t.last)).run()
		if err != nil {
			return err
		}
	}
	return nil
}

// takeUnmerged removes the turns that the last run left and adds them to the waiting turns, except
// turns of removed sessions.
func (s *Store) takeUnmerged() error {
	turns, err := loadUnmerged(s.writer.conn)
	if err != nil || len(turns) == 0 {
		return err
	}
	s.merges.putBack(turns...)
	return transact(s.writer.conn, func() error { return prepare(s.writer.conn, "DELETE FROM unmerged").run() })
}

func loadUnmerged(conn *sqlite.Conn) (turns []turnRange, err error) {
	q := prepare(conn, "SELECT id, key, last FROM unmerged JOIN session ON n = key >> ? ORDER BY key LIMIT ?").
		int(seqBits).int(maxMerges)
	defer q.reset()
	for {
		ok, err := q.next()
		if !ok || err != nil {
			return turns, err
		}
		t := turnRange{session: q.textAt(0), first: seqOf(q.intAt(1)), last: uint64(q.intAt(2))}
		if t.first <= t.last && t.last <= maxSeq { // rows have no checksum
			turns = append(turns, t)
		}
	}
}
