package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"agentctl/protocol"
)

// A way is how clients read a long log from its start.
type way struct {
	of, server string
	clients    int
	dial       func() (*client, error)
}

// folds is the name of agentctl in results of clients that read folds.
const folds = agentctl + " folded"

// readLog lets the clients of a way read a log of so many events, and returns the time that took.
func (w *way) readLog(events int) (time.Duration, error) {
	began := time.Now()
	err := parallel(w.clients, func(int) error {
		c, err := w.dial()
		if err != nil {
			return err
		}
		defer c.close()
		if w.server == folds {
			return c.readUntil(caughtUpMark)
		}
		return c.readDeltas(events)
	})
	if err != nil {
		err = fmt.Errorf("%s of %s: %w", w.of, w.server, err)
	}
	return time.Since(began), err
}

// measureCatchUp measures clients that read a long log from its start: from the cache of the
// server, right after its start, as folds, by server-sent events, and 100 clients at once.
func measureCatchUp(ctx context.Context, b *bench) error {
	const events = 100_000
	all, err := b.startAll(ctx, agentctl, ring)
	if err != nil {
		return err
	}
	s, r := all[0], all[1]
	ids := make([]string, len(all))
	for i, x := range all {
		if ids[i], err = x.create(ctx); err != nil {
			return err
		}
		if err := x.publish(ctx, job{Events: events}, ids[i]); err != nil {
			return err
		}
	}
	if err := s.finish(ctx, ids[0]); err != nil {
		return err
	}
	read := func(d protocol.SubscribeData) func() (*client, error) {
		d.Position = &protocol.Position{}
		return func() (*client, error) { return dialWebSocket(ctx, s.address, ids[0], d, b.AckEvents) }
	}
	raw, folded := read(protocol.SubscribeData{Raw: true}), read(protocol.SubscribeData{})
	ofRing := func() (*client, error) { return dialReference(ctx, r.address, ids[1], true) }
	many := b.pick(20, 100)
	ways := []way{
		{"1 client", agentctl, 1, raw},
		{"1 client", ring, 1, ofRing},
		{"1 client", sse, 1, func() (*client, error) { return dialSSE(ctx, s.address, ids[0], "since=0") }},
		{"1 client", folds, 1, folded},
		{"many clients", agentctl, many, raw},
		{"many clients", folds, many, folded},
		{"many clients", ring, many, ofRing},
	}
	for _, kind := range b.peers() {
		p, err := b.start(ctx, kind, "", 0)
		if err != nil {
			return err
		}
		if err := p.publish(ctx, job{Events: events}, logPrefix+"1"); err != nil {
			return err
		}
		ways = append(ways, way{"1 client", kind, 1, func() (*client, error) {
			return dialPeer(ctx, p.kind, p.address, logPrefix+"1")
		}})
	}
	afterStart := []way{
		{"1 client, after a start", agentctl, 1, raw},
		{"1 client, after a start", folds, 1, folded},
	}
	// A log that was just written is in memory, but not its folds.
	if _, err := afterStart[1].readLog(events); err != nil {
		return err
	}
	for range b.Repeat {
		for i := range ways {
			w := &ways[i]
			took, err := w.readLog(events)
			if err != nil {
				return err
			}
			if w.clients > 1 {
				b.add(w.of, w.server, "events/s", float64(w.clients*events)/took.Seconds())
				continue
			}
			b.add(w.of, w.server, "ms", took.Seconds()*1e3)
		}
		if err := b.stop(s); err != nil {
			return err
		}
		if s, err = b.start(ctx, agentctl, s.dir, 0); err != nil {
			return err
		}
		if err := s.client.Connect(ctx); err != nil {
			return err
		}
		for i := range afterStart {
			took, err := afterStart[i].readLog(events)
			if err != nil {
				return err
			}
			b.add(afterStart[i].of, afterStart[i].server, "ms", took.Seconds()*1e3)
		}
	}
	return nil
}

// measureMemory measures the memory of clients and sessions that do nothing.
func measureMemory(ctx context.Context, b *bench) error {
	clients, sessions := b.pick(500, 2000), b.pick(200, 1000)
	for range b.Repeat {
		for _, kind := range []string{agentctl, ring} {
			if err := clientMemory(ctx, b, kind, clients); err != nil {
				return err
			}
		}
		if err := spreadMemory(ctx, b, clients); err != nil {
			return err
		}
		for _, unload := range []time.Duration{0, time.Millisecond} {
			if err := sessionMemory(ctx, b, sessions, unload); err != nil {
				return err
			}
		}
	}
	return nil
}

func clientMemory(ctx context.Context, b *bench, kind string, clients int) error {
	s, err := b.start(ctx, kind, "", 0)
	if err != nil {
		return err
	}
	id, err := s.create(ctx)
	if err != nil {
		return err
	}
	before, err := s.memory()
	if err != nil {
		return err
	}
	following, err := s.follow(ctx, b, id, clients)
	if err != nil {
		return err
	}
	after, err := s.memory()
	closeAll(following)
	b.add("idle client", kind, "B", (after-before)/float64(clients))
	if err != nil {
		return err
	}
	return b.stop(s)
}

// spreadMemory measures the memory of clients of 100 sessions.
func spreadMemory(ctx context.Context, b *bench, clients int) error {
	s, err := b.start(ctx, agentctl, "", 0)
	if err != nil {
		return err
	}
	ids, err := s.createMany(ctx, 100)
	if err != nil {
		return err
	}
	before, err := s.memory()
	if err != nil {
		return err
	}
	following, err := s.attach(ctx, b, ids, clients)
	defer closeAll(following)
	if err != nil {
		return err
	}
	after, err := s.memory()
	if err != nil {
		return err
	}
	b.add("idle client of 100 sessions", agentctl, "B", (after-before)/float64(clients))
	return b.stop(s)
}

func sessionMemory(ctx context.Context, b *bench, sessions int, unload time.Duration) error {
	s, err := b.start(ctx, agentctl, "", unload)
	if err != nil {
		return err
	}
	if err := s.client.Connect(ctx); err != nil {
		return err
	}
	before, err := s.memory()
	if err != nil {
		return err
	}
	for range sessions {
		if _, err := s.create(ctx); err != nil {
			return err
		}
	}
	of := "loaded session"
	if unload > 0 {
		of = "unloaded session"
		time.Sleep(time.Second) // until the last ones are unloaded
	}
	after, err := s.memory()
	if err != nil {
		return err
	}
	b.add(of, agentctl, "B", (after-before)/float64(sessions))
	if err := b.stop(s); err != nil {
		return err
	}
	size, err := directorySize(s.dir)
	b.add("stored session", agentctl, "B", size/float64(sessions))
	return err
}

// directorySize returns the bytes of the files in a directory.
func directorySize(dir string) (float64, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	var size int64
	for _, f := range files {
		info, err := os.Stat(filepath.Join(dir, f.Name()))
		if err != nil {
			return 0, err
		}
		size += info.Size()
	}
	return float64(size), nil
}
