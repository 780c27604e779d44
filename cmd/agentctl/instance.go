package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"agentctl/server"
	"agentctl/server/agent/process"
	"agentctl/server/login"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

// groupGrace is how long an agent that a killed server left may take to end.
const groupGrace = 2 * time.Second

// An instance is a server with all it stands on: the locked data directory, the store, the agents, the listeners.
type instance struct {
	dir       dataDir
	lock      io.Closer
	store     *sqlite.Store
	server    *server.Server
	listeners []*server.Listener // not served yet
}

// log writes to stderr, for the server's owner.
func (o *serveOptions) log() *slog.Logger {
	level := slog.LevelInfo
	if o.Verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(o.app.stderr, &slog.HandlerOptions{Level: level}))
}

// openInstance locks the directory and opens everything but the listeners. errLocked: another server has it.
func openInstance(ctx context.Context, dir dataDir, c *config, log *slog.Logger) (i *instance, err error) {
	if err := dir.make(); err != nil {
		return nil, err
	}
	i = &instance{dir: dir}
	if i.lock, err = dir.lock(); err != nil {
		if pid := dir.owner(); errors.Is(err, errLocked) && pid != 0 {
			err = faultf(exitError, codeFailed, "%w: %s, pid %d", err, dir, pid).hinting("end it: agentctl stop")
		}
		return nil, err
	}
	if err = i.build(ctx, c, log); err != nil {
		return nil, errors.Join(err, i.close())
	}
	return i, nil
}

func (i *instance) build(ctx context.Context, c *config, log *slog.Logger) (err error) {
	secret := c.StateSecret
	if secret == "" {
		if secret, err = i.dir.random("secret"); err != nil {
			return fmt.Errorf("secret of exported states: %w", err)
		}
	}
	if i.store, err = sqlite.Open(string(i.dir), sqlite.Options{Sync: sqlite.Sync(c.Sync), Log: log}); err != nil {
		return err
	}
	cfg := c.server(i.store, []byte(secret), log)
	if cfg.Authenticator, err = i.gate(c); err != nil {
		return err
	}
	i.server, err = server.New(ctx, cfg)
	return err
}

// gate lets in the configured users and whom credentials were made for here.
func (i *instance) gate(c *config) (*login.Authenticator, error) {
	var users login.Users
	if c.Users != "" {
		var err error
		if users, err = readUsers(c.Users); err != nil {
			return nil, err
		}
	}
	return i.dir.gate(users)
}

// server is the configuration of a server on a store.
func (c *config) server(store session.Store, secret []byte, log *slog.Logger) server.Config {
	return server.Config{
		Session: session.Config{
			Store: store, Agents: c.roster(), DefaultAgent: c.DefaultAgent, Log: log,
			KillProcessGroup: endGroup, ApprovalTimeout: time.Duration(c.ApprovalTimeout), EditHold: time.Duration(c.EditHold),
			StateTTL: time.Duration(c.StateTTL), Secret: secret,
		},
		Version: programVersion(), Log: log,
		Limits: server.Limits{Message: c.Limits.Message, InFlight: c.Limits.InFlight, Rate: c.Limits.Rate, Window: c.Window},

		Dialects: c.dialects(),
	}
}

func (c *config) dialects() server.Dialects {
	options := map[string]map[string]string{}
	for name, d := range c.Dialects {
		options[name] = d.Options
	}
	return server.Dialects{
		Agent:   func(dialect, foreign string) string { return c.Dialects[dialect].Agents[foreign] },
		Options: options,
	}
}

// endGroup ends the process group of an agent that a killed server left.
func endGroup(g session.ProcessGroup) error {
	return process.EndGroup(context.Background(), process.Group{PID: g.PID, Start: g.Start}, groupGrace)
}

// serve serves until ctx ends, a listener fails, or the server was idle for so long (0: never); then it drains.
func (i *instance) serve(ctx context.Context, idle time.Duration) error {
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
	i.untilIdle(ctx, idle)
	err := i.drain()
	serving.Wait()
	close(failed)
	for e := range failed {
		err = errors.Join(err, e)
	}
	return err
}

// untilIdle returns when ctx ends, or nobody has used the server for so long.
func (i *instance) untilIdle(ctx context.Context, idle time.Duration) {
	if idle <= 0 {
		<-ctx.Done()
		return
	}
	tick := time.NewTicker(min(max(idle/10, 10*time.Millisecond), 10*time.Second))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if since, ok := i.server.IdleSince(); ok && now.Sub(since) >= idle {
				return
			}
		}
	}
}

// drain ends turns, agents and connections.
func (i *instance) drain() error {
	ctx, cancel := context.WithTimeout(context.Background(), drainPatience)
	defer cancel()
	s := i.server
	i.server = nil
	if err := s.Shutdown(ctx); err != nil {
		return fmt.Errorf("end the server: %w", err)
	}
	return nil
}

// close gives everything up, in the order opposite to opening.
func (i *instance) close() error {
	var errs []error
	for _, l := range i.listeners {
		errs = append(errs, l.Close())
	}
	if i.server != nil {
		errs = append(errs, i.drain())
	}
	if i.store != nil {
		errs = append(errs, i.store.Close())
	}
	if i.lock != nil {
		errs = append(errs, removeFile(i.dir.path("url")), i.lock.Close())
	}
	return errors.Join(errs...)
}
