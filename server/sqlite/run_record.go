package sqlite

import (
	"context"
	"crypto/rand"
	"strings"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

// A runRecord describes one run of the store. The next Open uses it to decide whether anything was
// lost.
type runRecord struct {
	bootID     string // "" when unknown
	sync       Sync
	clean      bool   // the store was closed by Close
	generation string // identity of the generation file, see readGeneration
}

// intact reports whether the database still holds everything that run r showed. bootID, generation
// and walIntact are the values found by the current Open. Unsynced writes outlive their process but
// not their kernel. The write-ahead log exists from Open until a clean close, so commits are lost
// when it is missing.
func (r runRecord) intact(bootID, generation string, walIntact bool) bool {
	if r.generation != generation {
		return false
	}
	return r.clean || walIntact && (r.sync == Full || r.bootID != "" && r.bootID == bootID)
}

// verifyTrust compares the record of the last run with the current state and gives every session a
// new epoch when something shown may be lost. Positions of lost events are then never taken for new
// ones. generation and walIntact are the values found by the current Open. It records this run. The
// caller must sync the transaction before anything is shown.
func verifyTrust(conn *sqlite.Conn, now runRecord, generation string, walIntact bool) error {
	last, known, err := loadRunRecord(conn)
	if err != nil {
		return err
	}
	return transact(conn, func() error {
		if known && !last.intact(now.bootID, generation, walIntact) {
			if err := renewEpochs(conn); err != nil {
				return err
			}
		}
		return saveRunRecord(conn, now)
	})
}

func loadRunRecord(conn *sqlite.Conn) (r runRecord, known bool, err error) {
	err = prepare(conn, "SELECT boot, sync, clean, generation FROM opened").each(func(q *statement) error {
		known = true
		r = runRecord{
			bootID: q.textAt(0), sync: Sync(q.textAt(1)), clean: q.intAt(2) == 1, generation: q.textAt(3),
		}
		return nil
	})
	return r, known, err
}

func saveRunRecord(conn *sqlite.Conn, r runRecord) error {
	return prepare(conn, "INSERT OR REPLACE INTO opened (one, boot, sync, clean, generation) VALUES (1, ?, ?, ?, ?)").
		text(r.bootID).text(string(r.sync)).bool(r.clean).text(r.generation).run()
}

func renewEpochs(conn *sqlite.Conn) error {
	var ids []string
	err := eachSession(context.Background(), conn, func(r *eventlog.Record) error {
		ids = append(ids, r.ID)
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		row, err := loadSession(conn, id)
		if err != nil {
			return err
		}
		row.Epoch = newEpoch()
		if err := row.save(conn); err != nil {
			return wrap(err, "renew epoch of %s", row.ID)
		}
	}
	return nil
}

// newEpoch returns 60 random bits in lower-case base32.
func newEpoch() string { return strings.ToLower(rand.Text()[:12]) }
