package sqlite

import (
	"context"

	"zombiezen.com/go/sqlite"

	"agentctl/server/agent"
)

// recordGroup inserts the record of a process group, or deletes it when the group has ended.
func (w *batchWriter) recordGroup(g agent.ProcessGroup) error {
	if g.Ended {
		return prepare(w.conn, "DELETE FROM process WHERE n = ? AND pid = ? AND start = ?").
			int(w.n).int(int64(g.PID)).text(g.Start).run()
	}
	return prepare(w.conn, "INSERT OR REPLACE INTO process (n, pid, start, crc) VALUES (?, ?, ?, ?)").
		int(w.n).int(int64(g.PID)).text(g.Start).int(int64(groupSum(w.n, g))).run()
}

func groupSum(n int64, g agent.ProcessGroup) sum {
	return sum(0).int(n).int(int64(g.PID)).text(g.Start)
}

// ProcessGroups returns the recorded process groups of all sessions. It implements session.Store.
func (s *Store) ProcessGroups(ctx context.Context) ([]agent.ProcessGroup, error) {
	var groups []agent.ProcessGroup
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		q := prepare(conn, `SELECT n, id, pid, start, process.crc FROM process JOIN session USING (n)
			ORDER BY n, pid, start`)
		return q.each(func(q *statement) error {
			g := agent.ProcessGroup{Session: q.textAt(1), PID: int(q.intAt(2)), Start: q.textAt(3)}
			groups = append(groups, g)
			return wrap(q.verify(4, groupSum(q.intAt(0), g)), "group of %s", g.Session)
		})
	})
	return groups, wrap(err, "list process groups")
}
