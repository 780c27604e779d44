package sqlite

import (
	"context"
	"errors"
	"fmt"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

// A Damage is a part of a database that cannot be read.
type Damage struct {
	Session string `json:"session,omitempty"` // id, empty if it is not known
	Part    string `json:"part"`              // events, fold, turn, snapshot, head, session, answer, …
	First   uint64 `json:"first,omitempty"`   // range of seqs, of events, folds and turns
	Last    uint64 `json:"last,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// PartLog is the part of a Damage for the reason of a *LogMissingError.
const PartLog = "log"

func (d Damage) String() string {
	text := d.Part
	switch {
	case d.Last > d.First:
		text += fmt.Sprintf(" %d to %d", d.First, d.Last)
	case d.First > 0:
		text += fmt.Sprintf(" %d", d.First)
	}
	if d.Session != "" {
		text = "session " + d.Session + ": " + text
	}
	if d.Detail != "" {
		text += ": " + d.Detail
	}
	return text
}

// A Report counts readable and damaged rows.
type Report struct {
	Sessions  int64 `json:"sessions"`
	Events    int64 `json:"events"`
	Folds     int64 `json:"folds"`
	Turns     int64 `json:"turns"`
	Answers   int64 `json:"answers"`
	Decisions int64 `json:"decisions"`
	Blobs     int64 `json:"blobs"`
	Damages   int64 `json:"damages"`
}

// CheckOptions configures Check.
type CheckOptions struct {
	Quick  bool               // verify sessions, heads and the ranges of events, but not their content, folds and blobs
	Damage func(Damage) error // called for each damage; its error ends the check
	Report Progress
}

// Check reads the database at path, which a server may have open, and verifies every checksum, and
// that no event is missing. It reports damage and counts readable rows. The error is about the
// check itself; a file that is not a database is a Damage.
func Check(ctx context.Context, path string, o CheckOptions) (Report, error) {
	i := &inspection{ctx: ctx, quick: o.Quick, damage: o.Damage, progress: o.Report}
	db, err := openReadOnly(ctx, path, true)
	if missing, ok := errors.AsType[*LogMissingError](err); ok {
		if err = i.found(Damage{Part: PartLog, Detail: missing.Error()}); err == nil {
			db, err = openReadOnly(ctx, path, false)
		}
	}
	switch {
	case errors.Is(err, eventlog.ErrCorrupt):
		return i.report, i.found(Damage{Part: "file", Detail: "it is not a database, or its first page is damaged"})
	case err == nil:
		i.conn = db.conn
		err = i.run()
		if err == nil && !i.quick {
			err = i.checkPages()
		}
		err = errors.Join(interrupted(ctx, err), db.Close())
	}
	return i.report, wrap(err, "check %s", path)
}

// checkPages verifies the structure of the file. Damaged pages of tables have been reported; this
// finds indexes that differ from their tables.
func (i *inspection) checkPages() error {
	before := i.report.Damages
	err := prepare(i.conn, "PRAGMA integrity_check(20)").each(func(q *statement) error {
		if text := q.textAt(0); text != "ok" && before == 0 { // else a consequence
			return i.found(Damage{Part: "pages", Detail: text})
		}
		return nil
	})
	if errors.Is(err, eventlog.ErrCorrupt) {
		return i.found(Damage{Part: "pages", Detail: "the structure cannot be verified"})
	}
	return err
}

// found counts and reports a damage.
func (i *inspection) found(d Damage) error {
	i.report.Damages++
	if i.damage == nil {
		return nil
	}
	return i.damage(d)
}

// pageBytes returns the size of a database by its header.
func pageBytes(conn *sqlite.Conn) (int64, error) {
	pages, err := pragma(conn, "page_count")
	if err != nil {
		return 0, err
	}
	size, err := pragma(conn, "page_size")
	return int64(pages) * int64(size), err
}
