package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"agentctl/protocol"
)

// measureCatchUp measures clients that read a long log from its start: with the pages in the cache
// of the server, right after its start, as folds, by server-sent events, and 100 clients at once.
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
	raw := read(protocol.SubscribeData{Raw: true})
	ways := []struct {
		of, server string
		clients    int
		dial       func() (*client, error)
		folded     bool
	}{
		{"1 client", agentctl, 1, raw, false},
		{"1 client", ring, 1, func() (*client, error) { return dialReference(ctx, r.address, ids[1], true) }, false},
		{"1 client", sse, 1, func() (*client, error) { return dialSSE(ctx, s.address, ids[0], "since=0") }, false},
		{"1 client", "agentctl folded", 1, read(protocol.SubscribeData{}), true},
		{"many clients", agentctl, b.pick(20, 100), raw, false},
		{"many clients", ring, b.pick(20, 100), func() (*client, error) {
			return dialReference(ctx, r.address, ids[1], true)
		}, false},
	}
	for range b.Repeat {
		for _, w := range ways {
			began := time.Now()
			if err := parallel(w.clients, func(int) error {
				c, err := w.dial()
				if err != nil {
					return err
				}
				defer c.close()
				if w.folded {
					return c.readUntil(caughtUpMark)
				}
				return c.readDeltas(events)
			}); err != nil {
				return fmt.Errorf("%s of %s: %w", w.of, w.server, err)
			}
			took := time.Since(began)
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
		began := time.Now()
		c, err := raw()
		if err != nil {
			return err
		}
		err = c.readDeltas(events)
		c.close()
		if err != nil {
			return err
		}
		b.add("1 client, after a start", agentctl, "ms", time.Since(began).Seconds()*1e3)
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

// measureAppend measures events that are stored without a client, and the bytes that they take.
func measureAppend(ctx context.Context, b *bench) error {
	for range b.Repeat {
		for _, sessions := range []int{1, 100} {
			s, err := b.start(ctx, agentctl, "", 0)
			if err != nil {
				return err
			}
			ids := make([]string, sessions)
			for i := range ids {
				if ids[i], err = s.create(ctx); err != nil {
					return err
				}
			}
			events := b.pick(100_000, 500_000) / sessions
			began := time.Now()
			if err := s.publish(ctx, job{Events: events}, ids...); err != nil {
				return err
			}
			if err := s.finish(ctx, ids...); err != nil {
				return err
			}
			total := float64(events * sessions)
			of := fmt.Sprint(sessions, " sessions")
			b.add(of, agentctl, "events/s", total/time.Since(began).Seconds())
			if err := b.stop(s); err != nil {
				return err
			}
			size, err := directorySize(s.dir)
			if err != nil {
				return err
			}
			b.add(of+", stored", agentctl, "B per event", size/total)
		}
	}
	return nil
}

// measureFlood measures the rate of an agent that never pauses, while clients read all of it.
func measureFlood(ctx context.Context, b *bench) error {
	all, err := b.startAll(ctx, agentctl)
	if err != nil {
		return err
	}
	s := all[0]
	for range b.Repeat {
		for _, n := range []int{0, 10, 100} {
			id, err := s.create(ctx)
			if err != nil {
				return err
			}
			clients, err := s.follow(ctx, b, id, n)
			if err != nil {
				return err
			}
			events := b.pick(40_000, 200_000)
			began := time.Now()
			if err := s.publish(ctx, job{Events: events}, id); err != nil {
				return err
			}
			readers := make(chan error, 1)
			go func() {
				_, err := readAll(clients, events, began)
				readers <- err
			}()
			if err := s.finish(ctx, id); err != nil {
				return err
			}
			b.add(fmt.Sprint(n, " clients"), agentctl, "events/s", float64(events)/time.Since(began).Seconds())
			err = <-readers
			closeAll(clients)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
