package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"zombiezen.com/go/sqlite"

	"agentctl/server/session"
	"agentctl/server/sqlite/dirlock"
)

// Sync is the durability level of a commit.
type Sync string

// Sync levels.
const (
	// Normal commits survive the death of the process. A power cut can lose the last seconds;
	// epochs are then renewed.
	Normal Sync = "normal"
	// Full commits also survive a power cut, at one fsync per commit.
	Full Sync = "full"
)

// fileName is the name of the database in a data directory.
const fileName = "agentctl.db"

// Path returns the path of the database of a data directory.
func Path(dir string) string { return filepath.Join(dir, fileName) }

// Options configures Open. The zero value is valid.
type Options struct {
	Sync   Sync         // default Normal
	BootID string       // id of the current boot; default: from the operating system
	Log    *slog.Logger // receives warnings about failed maintenance; nil discards them

	interval time.Duration // of maintenance; default one second
	walLimit int64         // default walLimit
	cached   int           // sessions in the cache of the writer; default maxCached
}

// A Store is an open database. It implements session.Store, with the same rules for concurrent use.
type Store struct {
	// Static after Open.
	path      string
	run       runRecord
	log       *slog.Logger
	interval  time.Duration
	walLimit  int64
	lock      *dirlock.Lock
	readers   connPool
	committed chan struct{} // one token: there was a commit since maintenance last looked
	removed   chan struct{} // one token: a commit removed a session
	merges    merges
	stop      context.CancelFunc
	stopped   chan struct{} // closed when the maintenance goroutine has ended

	conns []*sqlite.Conn // all connections

	checkpoints checkpointer
	writer      writer
}

var _ session.Store = (*Store)(nil)

// Open opens the store in dir and creates dir when missing. The error wraps dirlock.ErrLocked when
// another process holds the store, is a *NewerError when a later release wrote it, a *MissingError
// when the directory was used and its database is missing, and a *LogMissingError when the last
// store there was not closed and its write-ahead log is missing. If the database may have lost something that
// clients have seen, every session gets a new epoch.
func Open(dir string, opts Options) (_ *Store, err error) {
	s := &Store{
		path:      Path(dir),
		run:       runRecord{bootID: opts.BootID, sync: cmp.Or(opts.Sync, Normal)},
		log:       cmp.Or(opts.Log, slog.New(slog.DiscardHandler)),
		interval:  cmp.Or(opts.interval, time.Second),
		walLimit:  cmp.Or(opts.walLimit, walLimit),
		committed: make(chan struct{}, 1),
		removed:   make(chan struct{}, 1),
		merges:    merges{waiting: make(chan struct{}, 1)},
		stopped:   make(chan struct{}),
		writer: writer{cache: sessionCache{
			sessions: map[string]cachedSession{}, limit: cmp.Or(opts.cached, maxCached),
		}},
	}
	if s.run.sync != Normal && s.run.sync != Full {
		return nil, fmt.Errorf("open store: unknown sync level %q", opts.Sync)
	}
	if s.run.bootID == "" {
		if s.run.bootID, err = bootID(); err != nil {
			return nil, fmt.Errorf("open store: %w", err)
		}
	}
	if s.lock, err = dirlock.New(dir); err != nil {
		return nil, err
	}
	if err := s.open(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.release())
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	notify(s.removed) // the last run may have left rows of removed sessions
	go s.maintain(ctx)
	return s, nil
}

// open opens the connections, migrates the schema and verifies the last run.
func (s *Store) open(dir string) (err error) {
	if err := checkUsed(dir); err != nil {
		return err
	}
	if err := checkLog(dir); err != nil {
		return err
	}
	intact, err := walIntact(s.path + "-wal")
	if err != nil {
		return err
	}
	if err := createFile(s.path); err != nil {
		return err
	}
	if err := s.openReaders(); err != nil {
		return err
	}
	if s.writer.conn, err = s.connect(sqlite.OpenReadWrite); err != nil {
		return err
	}
	// Synchronous FULL until this run is recorded: a power cut must not remove the record of a run
	// that has shown something.
	if err := setPragmas(s.writer.conn, "synchronous = FULL", autoVacuum, fastDelete); err != nil {
		return err
	}
	if err := enableWAL(s.writer.conn); err != nil {
		return err
	}
	found, err := readGeneration(dir)
	if err != nil {
		return err
	}
	if err := s.migrate(dir, found != ""); err != nil {
		return err
	}
	if s.run.generation, err = writeGeneration(dir); err != nil {
		return err
	}
	if err := verifyTrust(s.writer.conn, s.run, found, intact); err != nil {
		return err
	}
	if s.run.sync == Normal {
		if err := setPragmas(s.writer.conn, "synchronous = NORMAL"); err != nil {
			return err
		}
	}
	if err := s.takeUnmerged(); err != nil {
		return fmt.Errorf("turns to merge: %w", err)
	}
	if s.checkpoints.conn, err = s.connect(sqlite.OpenReadWrite); err != nil {
		return err
	}
	s.checkpoints.conn.SetBusyTimeout(0)
	if s.writer.files, err = findOpenFiles(s.path); err != nil {
		return err
	}
	return markUnclosed(dir)
}

// openReaders opens the read connections. They are opened first because, even on close, they do not
// modify a database of a newer release.
func (s *Store) openReaders() error {
	s.readers = make(connPool, readConns)
	for range readConns {
		conn, err := s.connect(sqlite.OpenReadOnly)
		if err != nil {
			return err
		}
		if _, err := schemaVersion(conn, s.path); err != nil {
			return err
		}
		s.readers.put(conn)
	}
	return nil
}

// connect opens a connection without automatic checkpoints.
func (s *Store) connect(flags sqlite.OpenFlags) (*sqlite.Conn, error) {
	conn, err := sqlite.OpenConn(s.path, flags)
	if err != nil {
		return nil, classify(err)
	}
	if err := setPragmas(conn, "wal_autocheckpoint = 0"); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	s.conns = append(s.conns, conn)
	return conn, nil
}

func setPragmas(conn *sqlite.Conn, pragmas ...string) error {
	for _, p := range pragmas {
		if err := prepare(conn, "PRAGMA "+p).run(); err != nil {
			return wrap(err, "set %s", p)
		}
	}
	return nil
}

// enableWAL enables write-ahead logging. Not every file system supports it.
func enableWAL(conn *sqlite.Conn) error {
	err := prepare(conn, "PRAGMA journal_mode = WAL").one(func(q *statement) error {
		if mode := q.textAt(0); mode != "wal" {
			return fmt.Errorf("the file system only supports %q", mode)
		}
		return nil
	})
	return wrap(err, "enable write-ahead log")
}

// createFile creates the database file with mode 0600. SQLite gives its other files the same mode.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
