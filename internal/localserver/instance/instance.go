package instance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/protocol"
	"agentctl/server"
	"agentctl/server/agent"
	"agentctl/server/agent/process"
	"agentctl/server/eventlog"
	"agentctl/server/login"
	"agentctl/server/sqlite"
	"agentctl/server/sqlite/dirlock"
)

const (
	drainTimeout  = 20 * time.Second // for turns, agents and connections to end
	endGroupGrace = 2 * time.Second  // for an agent of a killed server to end
)

// Outputs is the name of the directory of long outputs of tools. Open empties it: a killed server
// leaves them there.
const Outputs = "outputs"

// ErrRunning is wrapped by the error of Open when another server runs on the data directory.
var ErrRunning = errors.New("another server runs on this data directory")

// Options configures an Instance.
type Options struct {
	Server server.Config // Open sets the store, the authenticator and the end of process groups
	Sync   sqlite.Sync
	Users  login.Users // who can log in; may be nil
	Log    *slog.Logger
	Config string // path of the configuration; "": none
}

// An Instance is a server on a data directory: the store, which holds the lock of the directory,
// the server and its listeners.
type Instance struct {
	dir       localserver.Dir
	store     *sqlite.Store
	server    *server.Server
	listeners []*server.Listener // not served yet

	authenticator *login.Authenticator
}

// Open locks the directory and opens everything but the listeners. It fails with ErrRunning if
// another server runs.
func Open(ctx context.Context, dir localserver.Dir, o Options) (_ *Instance, err error) {
	if err := dir.Create(); err != nil {
		return nil, err
	}
	i := &Instance{dir: dir}
	if i.store, err = sqlite.Open(string(dir), sqlite.Options{Sync: o.Sync, Log: o.Log}); err != nil {
		if !errors.Is(err, dirlock.ErrLocked) {
			return nil, err
		}
		if pid := dir.Holder(); pid != 0 {
			return nil, exit.Errorf(exit.Failure, exit.CodeFailed, "%w: %s, pid %d", ErrRunning, dir, pid).
				WithHint("stop it: agentctl stop")
		}
		return nil, ErrRunning // it has just ended
	}
	err = os.RemoveAll(dir.Path(Outputs))
	if err == nil {
		err = i.openServer(ctx, o)
	}
	if err != nil {
		return nil, errors.Join(err, i.Close())
	}
	return i, nil
}

// SandboxDir is the name of the directory for files of sandboxes.
const SandboxDir = "sandbox"

// ownPaths returns the directory and the recorded configuration of the server, without links.
func ownPaths(dir localserver.Dir) (paths []string) {
	for _, path := range []string{string(dir), dir.ConfigPath()} {
		if real, err := filepath.EvalSymlinks(path); err == nil && path != "" {
			if real, err = filepath.Abs(real); err == nil {
				paths = append(paths, real)
			}
		}
	}
	return paths
}

func (i *Instance) openServer(ctx context.Context, o Options) (err error) {
	if err := i.dir.RecordConfig(o.Config); err != nil {
		return err
	}
	cfg := o.Server
	cfg.Session.Store, cfg.Session.KillProcessGroup = i.store, endGroup
	if len(cfg.Session.Secret) == 0 {
		secret, err := i.dir.Secret("secret")
		if err != nil {
			return fmt.Errorf("secret of exported states: %w", err)
		}
		cfg.Session.Secret = []byte(secret)
	}
	if cfg.Session.Key, err = i.dir.StateKey(); err != nil {
		return err
	}
	envKey, err := i.dir.Secret("env.key")
	if err != nil {
		return fmt.Errorf("key of environments: %w", err)
	}
	cfg.Session.EnvKey = []byte(envKey)
	cfg.Session.OwnDirectories = ownPaths(i.dir)
	if i.authenticator, err = i.dir.Authenticator(o.Users); err != nil {
		return err
	}
	cfg.Authenticator = i.authenticator
	cfg.HooksDir = i.dir.Path("hooks")
	cfg.SandboxDir = i.dir.Path(SandboxDir)
	i.server, err = server.New(ctx, cfg)
	return err
}

// endGroup stops the process group of an agent of a killed server.
func endGroup(g agent.ProcessGroup) error {
	return process.EndGroup(context.Background(), process.Group{PID: g.PID, Start: g.Start}, endGroupGrace)
}

// Authenticator returns the authenticator of the server.
func (i *Instance) Authenticator() *login.Authenticator { return i.authenticator }

// Server returns the server.
func (i *Instance) Server() *server.Server { return i.server }

// Dir returns the data directory.
func (i *Instance) Dir() localserver.Dir { return i.dir }

// AddListener adds a listener, which Serve serves and Close closes.
func (i *Instance) AddListener(l *server.Listener) { i.listeners = append(i.listeners, l) }

// SetOrigins sets the origins of web pages that may connect to the listeners added so far.
func (i *Instance) SetOrigins(origins *server.Origins) {
	for _, l := range i.listeners {
		l.Origins = origins
	}
}

// Serve serves the listeners until ctx ends, a listener or the store fails, or the server has been
// idle for the given time (0: no limit). Then it drains.
func (i *Instance) Serve(ctx context.Context, idle time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, len(i.listeners))
	var serving sync.WaitGroup
	srv := i.server
	for _, l := range i.listeners {
		serving.Go(func() {
			if err := srv.Serve(l); err != nil {
				failed <- err
				cancel()
			}
		})
	}
	i.listeners = nil // the server closes them
	i.waitIdle(ctx, idle)
	err := errors.Join(storeFailure(srv), i.drain())
	serving.Wait()
	close(failed)
	for e := range failed {
		err = errors.Join(err, e)
	}
	return err
}

// storeFailure returns the error of a store that has failed for good, or nil.
func storeFailure(s *server.Server) error {
	if err := context.Cause(s.Failed()); err != nil {
		return exit.Errorf(exit.Failure, exit.CodeFailed, "the server ends, because its store failed: %w", err).
			WithHint("check the disk, its space and the files of the data directory; the next start uses them")
	}
	return nil
}

// waitIdle returns when ctx ends, the store fails, or the server has been idle for the given time.
func (i *Instance) waitIdle(ctx context.Context, idle time.Duration) {
	if idle <= 0 {
		select {
		case <-ctx.Done():
		case <-i.server.Failed().Done():
		}
		return
	}
	tick := time.NewTicker(min(max(idle/10, 10*time.Millisecond), 10*time.Second))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-i.server.Failed().Done():
			return
		case now := <-tick.C:
			if since, ok := i.server.IdleSince(); ok && now.Sub(since) >= idle {
				return
			}
		}
	}
}

// drain ends turns, stops agents and closes connections.
func (i *Instance) drain() error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	s := i.server
	i.server = nil
	if err := s.Shutdown(ctx); err != nil {
		return fmt.Errorf("end the server: %w", err)
	}
	return nil
}

// Close closes everything in reverse order of opening. The store releases the directory last.
func (i *Instance) Close() error {
	var errs []error
	for _, l := range i.listeners {
		errs = append(errs, l.Close())
	}
	if i.server != nil {
		errs = append(errs, i.drain())
	}
	return errors.Join(append(errs, i.dir.Forget(), i.store.Close())...)
}

// StoreError returns the error of an operation on stored sessions with its code and what to do.
func StoreError(err error) error {
	var damaged *sqlite.DamagedError
	var missing *sqlite.MissingError
	var noLog *sqlite.LogMissingError
	failed := func(code protocol.Code) *exit.Error { return exit.Errorf(exit.Failure, code, "%w", err) }
	switch {
	case errors.As(err, &damaged), errors.Is(err, eventlog.ErrCorrupt):
		return failed(protocol.CodeCorrupt).WithHint("see what is damaged: agentctl check FILE")
	case errors.As(err, &missing):
		return failed(protocol.CodeCorrupt).WithHint("restore a backup: agentctl restore FILE; " +
			"to begin without sessions, which are lost then, remove the file \"generation\" there")
	case errors.As(err, &noLog):
		return failed(protocol.CodeCorrupt).WithHint("put the file back; or restore a backup: agentctl restore FILE " +
			"--replace; or keep what the database has, without what was stored last: agentctl repair --without-log")
	case errors.Is(err, dirlock.ErrLocked):
		return failed(exit.CodeFailed).WithHint("stop the server: agentctl stop")
	case errors.Is(err, sqlite.ErrInUse):
		return failed(exit.CodeFailed).WithHint("pass --replace: what is there is kept in a file")
	}
	return localserver.DiskError(err)
}
