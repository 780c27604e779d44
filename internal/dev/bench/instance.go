package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// An instance is agentctl's server with the client that controls it.
type instance struct {
	*process
	dir    string
	client *wsclient.Client
	sent   sync.Map // session → seq of its last job
}

// start starts a server. dir is the directory of the store; empty: a new one.
func (b *bench) start(ctx context.Context, dir string) (*instance, error) {
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp(b.dir, "store-"); err != nil {
			return nil, err
		}
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "-serve", dir)
	cmd.Env = append(os.Environ(), serveVariable+"=1")
	p, err := startProcess(cmd)
	if err != nil {
		return nil, err
	}
	s := &instance{process: p, dir: dir}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the server: %w", err), p.stop())
	}
	p.address = strings.TrimSpace(line)
	s.client = wsclient.New("ws://"+p.address, wsclient.Options{Token: token})
	b.servers = append(b.servers, s)
	return s, s.client.Connect(ctx)
}

// serveVariable is the environment variable that lets the program of a test be a server.
const serveVariable = "AGENTCTL_BENCH_SERVE"

func (s *instance) String() string { return "agentctl" }

func (s *instance) stop() error {
	_ = s.client.Close()
	return s.process.stop()
}

func (s *instance) create(ctx context.Context) (string, error) {
	var r protocol.CreateResult
	err := s.client.Do(ctx, protocol.Command{Command: protocol.DoCreate, Data: []byte("{}")}, &r)
	return r.Session, err
}

// createMany creates n sessions.
func (s *instance) createMany(ctx context.Context, n int) ([]string, error) {
	ids := make([]string, n)
	for i := range ids {
		var err error
		if ids[i], err = s.create(ctx); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func (s *instance) publish(ctx context.Context, j job, ids ...string) error {
	data := protocol.MustEncode(protocol.SendData{Text: string(protocol.MustEncode(j))})
	return parallel(len(ids), func(i int) error {
		var r protocol.SendResult
		err := s.client.Do(ctx, protocol.Command{Command: protocol.DoSend, Session: ids[i], Data: data}, &r)
		s.sent.Store(ids[i], r.Seq)
		return err
	})
}

// turnTime waits for the end of the turn that publish began and returns the time from its start to
// its end by the clock of the server, so that the way of the end to this program does not count.
func (s *instance) turnTime(ctx context.Context, id string) (time.Duration, error) {
	at, _ := s.sent.Load(id)
	seq, _ := at.(uint64)
	var started time.Time
	sub := s.client.Subscribe(id, wsclient.SubscribeOptions{Since: &protocol.Position{Seq: seq}})
	for it, err := range sub.Events(ctx) {
		switch {
		case err != nil:
			return 0, err
		case it.Event == nil:
		case it.Event.Type == protocol.TurnStarted:
			started = it.Event.Time
		case it.Event.Type == protocol.TurnEnded:
			return it.Event.Time.Sub(started), nil
		}
	}
	return 0, ctx.Err()
}

// awaitStored waits for the end of the turns that publish began, and checks that each has stored its
// events. It reads the list of sessions, which costs the server less than the events.
func (s *instance) awaitStored(ctx context.Context, events int, ids ...string) error {
	waiting := map[string]uint64{}
	for _, id := range ids {
		at, _ := s.sent.Load(id)
		waiting[id], _ = at.(uint64)
	}
	for sum, err := range s.client.Watch(ctx) {
		if err != nil {
			return err
		}
		at, ok := waiting[sum.Session]
		if !ok || sum.Seq <= at || sum.Turn != "" {
			continue
		}
		if sum.Reason != protocol.ReasonCompleted || sum.Seq-at < uint64(events) {
			return fmt.Errorf("%d of %d events are stored, and the turn is %s", sum.Seq-at, events, sum.Reason)
		}
		if delete(waiting, sum.Session); len(waiting) == 0 {
			return nil
		}
	}
	return ctx.Err()
}

func (s *instance) follow(ctx context.Context, id string) (*client, error) {
	c, err := s.subscribe(ctx, id, protocol.SubscribeData{Raw: true})
	if err != nil {
		return nil, err
	}
	return c, c.readUntil(caughtUpMark)
}

// followMany connects n clients to a session at its end.
func followMany(ctx context.Context, s loaded, id string, n int) ([]*client, error) {
	return connect(n, func(int) (*client, error) { return s.follow(ctx, id) })
}
