package sqlite

import (
	"crypto/rand"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"
)

// An opening is what one run of the store says about itself, for the next one to judge.
type runRecord struct {
	bootID     string // the run of the operating system, empty when it has no name
	sync       Sync
	clean      bool   // closed by Close
	generation string // what the side file was, see generation.go
}

// intact reports whether everything that o ever showed is still in the database, seen from a start on boot that finds
// the side file as generation and the write-ahead log whole or not. Unsynced writes outlive their process but not their
// kernel; the log is there from Open until a clean Close, so when it is gone, commits went with it.
func (o runRecord) intact(boot, generation string, whole bool) bool {
	if o.generation != generation {
		return false
	}
	return o.clean || whole && (o.sync == Full || o.bootID != "" && o.bootID == boot)
}

// verifyTrust compares what the last run left with how things are now, gives every session a new epoch when something shown
// may be lost, and records this run, so that positions handed out before the loss are never taken for new ones. The
// caller sees to it that the transaction is synced: until then nothing may be shown.
func verifyTrust(conn *sqlite.Conn, now runRecord, found string, whole bool) error {
	last, known, err := loadRunRecord(conn)
	if err != nil {
		return err
	}
	return transact(conn, func() error {
		if known && !last.intact(now.bootID, found, whole) {
			if err := renewEpochs(conn); err != nil {
				return err
			}
		}
		return saveRunRecord(conn, now)
	})
}

func loadRunRecord(conn *sqlite.Conn) (o runRecord, known bool, err error) {
	q := prepare(conn, "SELECT boot, sync, clean, generation FROM opened")
	defer q.reset()
	if known, err = q.next(); !known || err != nil {
		return o, false, err
	}
	return runRecord{
		bootID: q.textAt(0), sync: Sync(q.textAt(1)), clean: q.intAt(2) == 1, generation: q.textAt(3),
	}, true, nil
}

func saveRunRecord(conn *sqlite.Conn, o runRecord) error {
	return prepare(conn, "INSERT OR REPLACE INTO opened (one, boot, sync, clean, generation) VALUES (1, ?, ?, ?, ?)").
		text(o.bootID).text(string(o.sync)).bool(o.clean).text(o.generation).run()
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
