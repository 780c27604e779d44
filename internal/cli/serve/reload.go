package serve

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"agentctl/internal/credentials"
	"agentctl/internal/localserver"
	"agentctl/internal/worktree"
)

// reloadInterval is the time between two looks at files that may have changed.
const reloadInterval = time.Second

// A reloader reads the files of a running server again: on SIGHUP all of them, and those that
// decide who has access when they change. A file that cannot be read changes nothing. It is one
// goroutine.
type reloader struct {
	log     *slog.Logger
	sources []*reloadSource
	hup     chan os.Signal
	stop    context.CancelFunc // ends the server

	hasTerminal func() bool
}

// A reloadSource is a part of the configuration.
type reloadSource struct {
	name  string
	paths []string // looked at for changes; none: read again on SIGHUP alone
	load  func() error
	seen  string // state of paths when they were last read
}

// newReloader returns the reloader of a server. It catches SIGHUP unless that is ignored, as nohup
// does. stop ends the server.
func newReloader(o *serveOptions, l *listeners, users string, stop context.CancelFunc) *reloader {
	r := &reloader{log: o.Log.logger, hup: make(chan os.Signal, 1), stop: stop, hasTerminal: hasTerminal}
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(r.hup, syscall.SIGHUP)
	}
	dir, auth := l.instance.Dir(), l.instance.Authenticator()
	if o.Log.file != nil {
		r.add("log", nil, o.Log.file.Reopen)
	}
	if o.Config != "" {
		s := l.instance.Server()
		r.add("configuration", nil, func() error { return o.running.reload(s) })
	}
	if len(l.urls) > 0 { // else no client needs a credential
		r.add("keys", []string{dir.Path("key")}, func() error {
			keys, err := dir.Keys()
			if err == nil {
				auth.SetKeys(keys)
			}
			return err
		})
		r.add("revoked credentials", []string{dir.Path("tokens")}, func() error {
			revoked, problems, err := dir.RevokedTokens()
			if err == nil {
				auth.SetRevoked(revoked)
			}
			for _, p := range problems {
				r.log.Warn("a credential is refused: its record cannot be read", "err", p)
			}
			return err
		})
	}
	if users != "" {
		r.add("users", []string{users}, func() error {
			u, err := credentials.ReadUsers(users)
			if err == nil {
				auth.SetUsers(u)
			}
			return err
		})
	}
	if l.certificate != nil {
		r.add("certificate", l.certificate.Files(), func() error {
			before := l.certificate.Fingerprint()
			if err := l.certificate.Reload(); err != nil {
				return err
			}
			if now := l.certificate.Fingerprint(); now != before {
				r.log.Warn("clients must trust another certificate", "fingerprint", now)
			}
			return l.record()
		})
	}
	return r
}

// add adds a source. It reads files that may have changed since the server read them.
func (r *reloader) add(name string, paths []string, load func() error) {
	s := &reloadSource{name, paths, load, fileState(paths)}
	r.sources = append(r.sources, s)
	if paths != nil {
		r.report(s, s.load())
	}
}

// run reloads until ctx ends.
func (r *reloader) run(ctx context.Context) {
	defer signal.Stop(r.hup)
	onTerminal := r.hasTerminal()
	var tick <-chan time.Time
	for _, s := range r.sources {
		if s.paths != nil && tick == nil {
			t := time.NewTicker(reloadInterval)
			defer t.Stop()
			tick = t.C
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.hup:
			if onTerminal && !r.hasTerminal() { // the terminal was closed
				r.stop()
				return
			}
			for _, s := range r.sources {
				r.reload(s)
			}
		case <-tick:
			for _, s := range r.sources {
				if s.paths != nil && fileState(s.paths) != s.seen {
					r.reload(s)
				}
			}
		}
	}
}

// reload reads a source again.
func (r *reloader) reload(s *reloadSource) {
	s.seen = fileState(s.paths) // before it is read: the next check sees a change during the read
	err := s.load()
	r.report(s, err)
	if err == nil {
		r.log.Info("reloaded", "what", s.name)
	}
}

func (r *reloader) report(s *reloadSource, err error) {
	if err != nil {
		r.log.Error("not reloaded: the previous one stays", "what", s.name, "err", err)
	}
}

// fileState describes the state of files, which differs after a change.
func fileState(paths []string) (state string) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			state += "missing\n"
			continue
		}
		state += fmt.Sprintln(info.ModTime().UnixNano(), info.Size(), localserver.FileID(info))
	}
	return state
}

// hasTerminal reports whether the process has a controlling terminal.
func hasTerminal() bool {
	f, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}

// removeWorktree removes the git worktree at a directory, if agentctl made it and nothing would be
// lost, ignored files included, or git's entry of one whose directory was deleted. It returns why
// the worktree stays, or "".
func removeWorktree(ctx context.Context, dir string) (kept string) {
	w := worktree.Find(ctx, dir)
	if w == nil {
		if err := worktree.Prune(ctx, dir); err != nil {
			return err.Error()
		}
		return ""
	}
	left, err := w.Left(ctx)
	if err == nil && left == "" {
		var ignored []string
		ignored, err = w.Ignored(ctx)
		left = worktree.IgnoredText(ignored)
	}
	if err == nil && left == "" {
		err = w.Remove(ctx, false)
	}
	if err != nil {
		return err.Error()
	}
	return left
}
