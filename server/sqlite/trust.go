package sqlite

import (
	"crypto/rand"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"
)

// An opening is what one run of the store says about itself, for the next one to judge.
type opening struct {
	boot       string // the run of the operating system, empty when it has no name
	sync       Sync
	clean      bool   // closed by Close
	generation string // what the side file was, see generation.go
}

// keeps reports whether everything that o ever showed is still in the database, seen from a start on boot that finds
// the side file as generation and the write-ahead log whole or not. Unsynced writes outlive their process but not their
// kernel; the log is there from Open until a clean Close, so when it is gone, commits went with it.
func (o opening) keeps(boot, generation string, whole bool) bool {
	if o.generation != generation {
		return false
	}
	return o.clean || whole && (o.sync == Full || o.boot != "" && o.boot == boot)
}

// judge compares what the last run left with how things are now, gives every session a new epoch when something shown
// may be lost, and records this run, so that positions handed out before the loss are never taken for new ones. The
// caller sees to it that the transaction is synced: until then nothing may be shown.
func judge(conn *sqlite.Conn, now opening, found string, whole bool) error {
	last, known, err := lastOpening(conn)
	if err != nil {
		return err
	}
	return transact(conn, func() error {
		if known && !last.keeps(now.boot, found, whole) {
			if err := renewEpochs(conn); err != nil {
				return err
			}
		}
		return record(conn, now)
	})
}

func lastOpening(conn *sqlite.Conn) (o opening, known bool, err error) {
	q := prepare(conn, "SELECT boot, sync, clean, generation FROM opened")
	defer q.reset()
	if known, err = q.next(); !known || err != nil {
		return o, false, err
	}
	return opening{
		boot: q.textAt(0), sync: Sync(q.textAt(1)), clean: q.intAt(2) == 1, generation: q.textAt(3),
	}, true, nil
}

func record(conn *sqlite.Conn, o opening) error {
	return prepare(conn, "INSERT OR REPLACE INTO opened (one, boot, sync, clean, generation) VALUES (1, ?, ?, ?, ?)").
		text(o.boot).text(string(o.sync)).bool(o.clean).text(o.generation).run()
}

func renewEpochs(conn *sqlite.Conn) error {
	rows, err := sessionRows(conn)
	if err != nil {
		return err
	}
	for _, row := range rows {
		row.Epoch = newEpoch()
		if err := row.save(conn); err != nil {
			return fmt.Errorf("renew epoch of %s: %w", row.ID, err)
		}
	}
	return nil
}

// newEpoch returns 60 random bits in lower-case base32.
func newEpoch() string { return strings.ToLower(rand.Text()[:12]) }
