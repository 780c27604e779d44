package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// A bench measures one row.
type bench struct {
	*options
	dir     string
	servers []*instance
	samples []sample
	started int
}

// rows lists the measurements in their order.
var rows = []struct {
	name    string
	measure func(context.Context, *bench) error
}{
	{"fan-out", measureFanOut},
	{"100 sessions × 10", measureSessions},
	{"latency", measureLatency},
	{"attach", measureAttach},
	{"catch-up", measureCatchUp},
	{"memory", measureMemory},
	{"append", measureAppend},
	{"acp", measureACP},
	{"start", measureStart},
	{"restart", measureRestart},
	{"screen", measureScreen},
	{"connections", measureConnections},
	{"flood", measureFlood},
}

// add adds a sample.
func (b *bench) add(of, server, unit string, value float64) {
	b.samples = append(b.samples, sample{of, server, unit, value})
}

// pick returns quick in the quick mode, else full.
func (b *bench) pick(quick, full int) int {
	if b.Quick {
		return quick
	}
	return full
}

// An instance is a server process with the client that controls it.
type instance struct {
	*process
	kind   string
	dir    string
	client *wsclient.Client // of agentctl
	names  int              // sessions of a reference
	sent   sync.Map         // session → seq of its last job
}

// start starts a server of a kind. dir is that of the store; empty: a new one.
func (b *bench) start(ctx context.Context, kind, dir string, unload time.Duration) (*instance, error) {
	b.started++
	if dir == "" {
		dir = filepath.Join(b.dir, fmt.Sprint(len(b.samples), "-", b.started))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	p, err := startProcess(ctx, &serveOptions{Kind: kind, Dir: dir, Durable: b.Durable, Unload: unload})
	if err != nil {
		return nil, err
	}
	s := &instance{process: p, kind: kind, dir: dir}
	if kind == agentctl {
		s.client = wsclient.New("ws://"+p.address, wsclient.Options{Token: token})
	}
	b.servers = append(b.servers, s)
	return s, nil
}

// startAll starts a server of each kind.
func (b *bench) startAll(ctx context.Context, kinds ...string) ([]*instance, error) {
	var all []*instance
	for _, kind := range kinds {
		s, err := b.start(ctx, kind, "", 0)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// peers returns the kinds of servers that others wrote, if they are measured.
func (b *bench) peers() []string {
	if b.Peers {
		return []string{nats, redis}
	}
	return nil
}

// stop ends a server.
func (b *bench) stop(s *instance) error {
	for i, x := range b.servers {
		if x == s {
			b.servers = append(b.servers[:i], b.servers[i+1:]...)
			break
		}
	}
	if s.client != nil {
		_ = s.client.Close()
	}
	return s.process.stop()
}

// stopAll ends the servers that still run.
func (b *bench) stopAll() {
	for len(b.servers) > 0 {
		_ = b.stop(b.servers[0])
	}
}

// The kinds of servers, as flags and in results.
const (
	agentctl = "agentctl"
	ring     = "ring"
	channel  = "channel"
)

// create creates a session.
func (s *instance) create(ctx context.Context) (string, error) {
	if s.kind != agentctl {
		s.names++
		return fmt.Sprint("s", s.names), nil
	}
	var r protocol.CreateResult
	err := s.client.Do(ctx, protocol.Command{Command: protocol.DoCreate, Data: []byte("{}")}, &r)
	return r.Session, err
}

// publish begins a job in sessions.
func (s *instance) publish(ctx context.Context, j job, ids ...string) error {
	if s.kind != agentctl {
		return s.send(order{Sessions: ids, Job: &j})
	}
	data := protocol.MustEncode(protocol.SendData{Text: string(protocol.MustEncode(j))})
	return parallel(len(ids), func(i int) error {
		var r protocol.SendResult
		err := s.client.Do(ctx, protocol.Command{Command: protocol.DoSend, Session: ids[i], Data: data}, &r)
		s.sent.Store(ids[i], r.Seq)
		return err
	})
}

// finish waits for the end of the turns that publish began.
func (s *instance) finish(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		if _, err := s.turnTime(ctx, id); err != nil {
			return err
		}
	}
	return ctx.Err()
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

// follow connects n clients to a session at its end.
func (s *instance) follow(ctx context.Context, b *bench, id string, n int) ([]*client, error) {
	clients := make([]*client, n)
	err := parallel(n, func(i int) (err error) {
		if s.kind == nats || s.kind == redis {
			clients[i], err = dialPeer(ctx, s.kind, s.address, id)
			return err
		}
		if s.kind != agentctl {
			clients[i], err = dialReference(ctx, s.address, id, false)
			return err
		}
		clients[i], err = dialWebSocket(ctx, s.address, id, protocol.SubscribeData{Raw: true}, b.AckEvents)
		if err != nil {
			return err
		}
		return clients[i].readUntil(caughtUpMark)
	})
	if err != nil {
		closeAll(clients)
	}
	return clients, err
}

// closeAll closes clients.
func closeAll(clients []*client) {
	for _, c := range clients {
		if c != nil {
			c.close()
		}
	}
}

// readAll lets every client read n deltas at once, and returns the time that took since began.
func readAll(clients []*client, n int, began time.Time) (time.Duration, error) {
	err := parallel(len(clients), func(i int) error { return clients[i].readDeltas(n) })
	return time.Since(began), err
}

// parallel calls f for 0 to n-1 at the same time, and returns the first error.
func parallel(n int, f func(i int) error) error {
	errs := make([]error, n)
	var g sync.WaitGroup
	for i := range n {
		g.Go(func() { errs[i] = f(i) })
	}
	g.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
