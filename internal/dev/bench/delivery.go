package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

// The names of agentctl's other ways of reading, in results.
const (
	sse   = "agentctl SSE"
	folds = "agentctl folded"
)

// measureFanOut measures the events that all clients of one session receive in a second while the
// session publishes without a pause.
func measureFanOut(ctx context.Context, b *bench) error {
	all, err := b.loadedServers(ctx)
	if err != nil {
		return err
	}
	for range b.Repeat {
		for _, n := range []int{1, 10, 100, 1000} {
			events := max(1000, min(b.pick(400_000, 4_000_000)/n, 200_000))
			for _, s := range all {
				clients, id, err := b.newSession(ctx, s, n)
				if err != nil {
					return err
				}
				if err := b.deliver(ctx, s, s.String(), fmt.Sprint(n, " clients"), clients, events, id); err != nil {
					return fmt.Errorf("%d clients of %s: %w", n, s, err)
				}
			}
		}
		if err := fanOutSSE(ctx, b, all[0].(*instance), 100, b.pick(4_000, 40_000)); err != nil {
			return fmt.Errorf("server-sent events: %w", err)
		}
	}
	return nil
}

// newSession creates a session with n clients.
func (b *bench) newSession(ctx context.Context, s loaded, n int) (clients []*client, id string, err error) {
	if id, err = s.create(ctx); err == nil {
		clients, err = followMany(ctx, s, id, n)
	}
	return clients, id, err
}

func fanOutSSE(ctx context.Context, b *bench, s *instance, n, events int) error {
	id, err := s.create(ctx)
	if err != nil {
		return err
	}
	clients, err := connect(n, func(int) (*client, error) { return s.stream(ctx, id, "") })
	if err != nil {
		return err
	}
	return b.deliver(ctx, s, sse, fmt.Sprint(n, " clients"), clients, events, id)
}

// deliver measures the deliveries in a second and the server's processor time of a million, and
// closes the clients.
func (b *bench) deliver(
	ctx context.Context, s loaded, name, of string, clients []*client, events int, ids ...string,
) error {
	defer closeAll(clients)
	total := float64(events * len(clients))
	took, used, err := measureCost(s, func() error {
		if err := s.publish(ctx, job{Events: events}, ids...); err != nil {
			return err
		}
		return readAll(clients, events)
	})
	b.add(of, name, "deliveries/s", total/took)
	b.add(of+", processor", name, "s per million", used/total*1e6)
	return err
}

// measureCost returns the time that do takes and the processor time of the server, in seconds.
func measureCost(s loaded, do func() error) (took, used float64, err error) {
	before, err := s.cpu()
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	err = do()
	took = time.Since(began).Seconds()
	after, err2 := s.cpu()
	return took, after - before, errors.Join(err, err2)
}

// measureSessions measures 100 sessions with ten clients each.
func measureSessions(ctx context.Context, b *bench) error {
	const sessions, each = 100, 10
	s, err := b.start(ctx, "")
	if err != nil {
		return err
	}
	for range b.Repeat {
		ids, err := s.createMany(ctx, sessions)
		if err != nil {
			return err
		}
		clients, err := connect(sessions*each, func(i int) (*client, error) { return s.follow(ctx, ids[i/each]) })
		if err != nil {
			return err
		}
		if err := b.deliver(ctx, s, s.String(), "all", clients, b.pick(400, 4_000), ids...); err != nil {
			return err
		}
	}
	return nil
}

// measureLatency measures the time from the agent's output to 100 clients at 200 events a second.
func measureLatency(ctx context.Context, b *bench) error {
	const n, rate = 100, 200
	all, err := b.loadedServers(ctx)
	if err != nil {
		return err
	}
	for range b.Repeat {
		for _, s := range all {
			clients, id, err := b.newSession(ctx, s, n)
			if err != nil {
				return err
			}
			events := rate * b.pick(3, 10)
			var took []time.Duration
			_, used, err := measureCost(s, func() error {
				if err := s.publish(ctx, job{Events: events, Rate: rate}, id); err != nil {
					return err
				}
				took, err = latencies(clients, events)
				return err
			})
			closeAll(clients)
			if err != nil {
				return err
			}
			b.add("p50", s.String(), "ms", took[len(took)/2].Seconds()*1e3)
			b.add("p99", s.String(), "ms", took[len(took)*99/100].Seconds()*1e3)
			b.add("processor", s.String(), "s per million", used/float64(events*n)*1e6)
		}
	}
	return nil
}

// latencies returns the sorted times from output to receipt of so many events at every client.
func latencies(clients []*client, events int) ([]time.Duration, error) {
	var mu sync.Mutex
	var all []time.Duration
	err := parallel(len(clients), func(i int) error {
		c := clients[i]
		took := make([]time.Duration, 0, events)
		for c.deltas < events {
			lines, err := c.next()
			if err != nil {
				return err
			}
			now := time.Now()
			for line := range bytes.Lines(lines) {
				if sent, ok := sentAt(line); ok {
					took = append(took, now.Sub(sent))
				}
			}
		}
		if len(took) != events || c.last != events-1 {
			return errDisorder
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, took...)
		return nil
	})
	slices.Sort(all)
	return all, err
}

// sentAt returns the time in the text of a delta.
func sentAt(line []byte) (time.Time, bool) {
	if !bytes.Contains(line, deltaMark) {
		return time.Time{}, false
	}
	_, text, _ := bytes.Cut(line, textMark)
	_, text, _ = bytes.Cut(text, []byte(" "))
	text, _, _ = bytes.Cut(text, []byte(" "))
	ns, err := strconv.ParseInt(string(text), 10, 64)
	return time.Unix(0, ns), err == nil
}
