package sqlite

import (
	"context"
	"fmt"

	"zombiezen.com/go/sqlite"

	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

// recordGroup inserts the record of a process group, or deletes it when the group has ended.
func recordGroup(conn *sqlite.Conn, n int64, g agent.ProcessGroup) error {
	if g.Ended {
		return prepare(conn, "DELETE FROM process WHERE n = ? AND pid = ? AND start = ?").
			int(n).int(int64(g.PID)).text(g.Start).run()
	}
	return prepare(conn, "INSERT OR REPLACE INTO process (n, pid, start, crc) VALUES (?, ?, ?, ?)").
		int(n).int(int64(g.PID)).text(g.Start).int(int64(groupSum(n, g))).run()
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
		defer q.reset()
		for {
			if ok, err := q.next(); !ok || err != nil {
				return err
			}
			g := agent.ProcessGroup{Session: q.textAt(1), PID: int(q.intAt(2)), Start: q.textAt(3)}
			if q.sumAt(4) != groupSum(q.intAt(0), g) {
				return fmt.Errorf("group of %s: %w", g.Session, eventlog.ErrCorrupt)
			}
			groups = append(groups, g)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list process groups: %w", err)
	}
	return groups, nil
}
