package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"zombiezen.com/go/sqlite"

	"agentctl/server/session"
)

// Sync says what a commit survives.
type Sync string

// The sync levels.
const (
	Normal Sync = "normal" // the death of the process; a power cut can take the last seconds, then epochs are renewed
	Full   Sync = "full"   // a power cut as well, for one fsync per commit
)

// Options of Open. The zero value is fine.
type Options struct {
	Sync   Sync         // Normal when empty
	BootID string       // names the run of the operating system; empty asks the system
	Log    *slog.Logger // hears of housekeeping that failed and is tried again; nil discards

	every    time.Duration // a round of housekeeping; a second when 0
	logLimit int64         // the constant when 0
}

// A Store is an open database. It is a session.Store, with its rules for concurrent use.
type Store struct {
	// Static after Open.
	path     string
	opening  opening
	log      *slog.Logger
	every    time.Duration
	logLimit int64
	lock     *os.File // held
	readers  readers
	wrote    chan struct{} // holds one token while a commit waits to be noticed by the housekeeping goroutine
	removed  chan struct{} // the same for a commit that removed a session
	stop     context.CancelFunc
	stopped  chan struct{} // closed when the housekeeping goroutine is gone

	conns []*sqlite.Conn // all of them

	checkpoints *sqlite.Conn // guarded by moving
	unmoved     atomic.Int64 // bytes committed since the last checkpoint began, about

	moving sync.Mutex   // held by whoever uses checkpoints or takes all readers; taken before mu
	mu     sync.Mutex   // one transaction, or one reset of the write-ahead log, at a time
	writer *sqlite.Conn // guarded by mu
	failed error        // guarded by mu; set once, then every commit returns it
}

var _ session.Store = (*Store)(nil)

// Open opens the store in dir, which it creates when missing. It fails with ErrLocked when another process has it and
// with a *NewerError when a later release wrote it. When the database cannot be trusted to hold all it ever showed,
// every session gets a new epoch.
func Open(dir string, opts Options) (_ *Store, err error) {
	s := &Store{
		path:     filepath.Join(dir, "agentctl.db"),
		opening:  opening{boot: opts.BootID, sync: opts.Sync},
		log:      opts.Log,
		every:    cmp.Or(opts.every, time.Second),
		logLimit: cmp.Or(opts.logLimit, logLimit),
		wrote:    make(chan struct{}, 1),
		removed:  make(chan struct{}, 1),
		stopped:  make(chan struct{}),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	switch s.opening.sync {
	case "":
		s.opening.sync = Normal
	case Normal, Full:
	default:
		return nil, fmt.Errorf("open store: unknown sync level %q", opts.Sync)
	}
	if s.opening.boot == "" {
		if s.opening.boot, err = bootID(); err != nil {
			return nil, fmt.Errorf("open store: %w", err)
		}
	}
	if s.lock, err = lock(dir); err != nil {
		return nil, err
	}
	if err := s.open(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.release())
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	notify(s.removed) // by a run that did not get to sweep
	go s.keepHouse(ctx)
	return s, nil
}

// open opens the connections, brings the schema up to date and judges trust.
func (s *Store) open(dir string) (err error) {
	whole, err := logWhole(s.path + "-wal")
	if err != nil {
		return err
	}
	if err := touch(s.path); err != nil {
		return err
	}
	if err := s.openReaders(); err != nil {
		return err
	}
	if s.writer, err = s.connect(sqlite.OpenReadWrite); err != nil {
		return err
	}
	// Full until this run is on record: a run that showed something must not be forgotten by a power cut.
	if err := settings(s.writer, "synchronous = FULL"); err != nil {
		return err
	}
	if err := useLog(s.writer); err != nil {
		return err
	}
	if err := migrate(s.writer, s.path); err != nil {
		return err
	}
	found, err := generation(dir)
	if err != nil {
		return err
	}
	if s.opening.generation, err = renewGeneration(dir); err != nil {
		return err
	}
	if err := judge(s.writer, s.opening, found, whole); err != nil {
		return err
	}
	if s.opening.sync == Normal {
		if err := settings(s.writer, "synchronous = NORMAL"); err != nil {
			return err
		}
	}
	if s.checkpoints, err = s.connect(sqlite.OpenReadWrite); err != nil {
		return err
	}
	s.checkpoints.SetBusyTimeout(0)
	return nil
}

// openReaders opens the read connections. They come first because they, unlike the others, leave a database that turns
// out to be a newer release's as it is, when they are closed as well.
func (s *Store) openReaders() error {
	s.readers = make(readers, readConns)
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

// connect opens a connection that never checkpoints by itself.
func (s *Store) connect(flags sqlite.OpenFlags) (*sqlite.Conn, error) {
	conn, err := sqlite.OpenConn(s.path, flags)
	if err != nil {
		return nil, classify(err)
	}
	if err := settings(conn, "wal_autocheckpoint = 0"); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	s.conns = append(s.conns, conn)
	return conn, nil
}

func settings(conn *sqlite.Conn, pragmas ...string) error {
	for _, p := range pragmas {
		if err := prepare(conn, "PRAGMA "+p).run(); err != nil {
			return fmt.Errorf("set %s: %w", p, err)
		}
	}
	return nil
}

// useLog switches to write-ahead logging, which not every file system can carry.
func useLog(conn *sqlite.Conn) error {
	q := prepare(conn, "PRAGMA journal_mode = WAL")
	defer q.reset()
	if _, err := q.next(); err != nil {
		return fmt.Errorf("use write-ahead log: %w", err)
	}
	if mode := q.textAt(0); mode != "wal" {
		return fmt.Errorf("use write-ahead log: the file system allows %q only", mode)
	}
	return nil
}

// touch creates the database file for its owner alone; SQLite gives the files beside it the same mode.
func touch(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
