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

// sse is the name of agentctl's server-sent events in results.
const sse = "agentctl SSE"

// measureFanOut measures the events that all clients of one session receive in a second while the
// session publishes without a pause.
func measureFanOut(ctx context.Context, b *bench) error {
	all, err := b.startAll(ctx, append([]string{agentctl, ring, channel}, b.peers()...)...)
	if err != nil {
		return err
	}
	for range b.Repeat {
		for _, n := range []int{1, 10, 100, 1000} {
			for _, s := range all {
				events := max(1000, min(b.pick(400_000, 4_000_000)/n, 200_000))
				if s.kind == channel || s.kind == nats {
					events = max(200, events/10)
				}
				if err := fanOut(ctx, b, s, n, events); err != nil {
					return fmt.Errorf("%d clients of %s: %w", n, s.kind, err)
				}
			}
			if n == 100 {
				if err := fanOutSSE(ctx, b, all[0], n, b.pick(4_000, 40_000)); err != nil {
					return fmt.Errorf("server-sent events: %w", err)
				}
			}
		}
	}
	return nil
}

// fanOut measures n clients of a session that publishes so many events.
func fanOut(ctx context.Context, b *bench, s *instance, n, events int) error {
	id, err := s.create(ctx)
	if err != nil {
		return err
	}
	clients, err := s.follow(ctx, b, id, n)
	if err != nil {
		return err
	}
	defer closeAll(clients)
	return b.deliver(ctx, s, s.kind, fmt.Sprint(n, " clients"), clients, events, id)
}

func fanOutSSE(ctx context.Context, b *bench, s *instance, n, events int) error {
	id, err := s.create(ctx)
	if err != nil {
		return err
	}
	clients := make([]*client, n)
	defer func() { closeAll(clients) }()
	if err := parallel(n, func(i int) (err error) {
		clients[i], err = dialSSE(ctx, s.address, id, "")
		return err
	}); err != nil {
		return err
	}
	return b.deliver(ctx, s, sse, fmt.Sprint(n, " clients"), clients, events, id)
}

// deliver measures the deliveries in a second and the server's processor time of a million.
func (b *bench) deliver(
	ctx context.Context, s *instance, name, of string, clients []*client, events int, ids ...string,
) error {
	before, err := s.cpu()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := s.publish(ctx, job{Events: events}, ids...); err != nil {
		return err
	}
	took, err := readAll(clients, events, began)
	if err != nil {
		return err
	}
	after, err := s.cpu()
	total := float64(events * len(clients))
	b.add(of, name, "deliveries/s", total/took.Seconds())
	b.add(of+", processor", name, "s per million", (after-before)/total*1e6)
	return err
}

// measureSessions measures 100 sessions with ten clients each.
func measureSessions(ctx context.Context, b *bench) error {
	const sessions, clients = 100, 10
	all, err := b.startAll(ctx, agentctl, ring)
	if err != nil {
		return err
	}
	for range b.Repeat {
		for _, s := range all {
			var ids []string
			var following []*client
			for range sessions {
				id, err := s.create(ctx)
				if err != nil {
					return err
				}
				some, err := s.follow(ctx, b, id, clients)
				if err != nil {
					return err
				}
				ids, following = append(ids, id), append(following, some...)
			}
			err := b.deliver(ctx, s, s.kind, "all", following, b.pick(400, 4_000), ids...)
			closeAll(following)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// measureLatency measures the time from the agent's output to 100 clients at 200 events a second.
func measureLatency(ctx context.Context, b *bench) error {
	const clients, rate = 100, 200
	all, err := b.startAll(ctx, append([]string{agentctl, ring, channel}, b.peers()...)...)
	if err != nil {
		return err
	}
	for range b.Repeat {
		for _, s := range all {
			id, err := s.create(ctx)
			if err != nil {
				return err
			}
			following, err := s.follow(ctx, b, id, clients)
			if err != nil {
				return err
			}
			events := rate * b.pick(3, 10)
			before, err := s.cpu()
			if err != nil {
				return err
			}
			if err := s.publish(ctx, job{Events: events, Rate: rate}, id); err != nil {
				return err
			}
			took, err := latencies(following, events)
			closeAll(following)
			if err != nil {
				return err
			}
			b.add("p50", s.kind, "ms", took[len(took)/2].Seconds()*1e3)
			b.add("p99", s.kind, "ms", took[len(took)*99/100].Seconds()*1e3)
			after, err := s.cpu()
			if err != nil {
				return err
			}
			b.add("processor", s.kind, "s per million", (after-before)/float64(events*clients)*1e6)
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
	if len(all) == 0 {
		return nil, errors.Join(err, errDisorder)
	}
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

// measureAttach measures clients that attach to one session at once: the server's processor time,
// and the lines about clients that they receive.
func measureAttach(ctx context.Context, b *bench) error {
	for range b.Repeat {
		for _, n := range []int{250, 1000, b.pick(1000, 2000)} {
			s, err := b.start(ctx, agentctl, "", 0)
			if err != nil {
				return err
			}
			id, err := s.create(ctx)
			if err != nil {
				return err
			}
			before, err := s.cpu()
			if err != nil {
				return err
			}
			began := time.Now()
			clients, err := s.follow(ctx, b, id, n)
			if err != nil {
				return err
			}
			took := time.Since(began)
			// An event that all get follows everything that the attachments caused.
			if err := s.publish(ctx, job{Events: 1}, id); err != nil {
				return err
			}
			if _, err := readAll(clients, 1, began); err != nil {
				return err
			}
			after, err := s.cpu()
			if err != nil {
				return err
			}
			lines := 0
			for _, c := range clients {
				lines += c.presence
			}
			closeAll(clients)
			of := fmt.Sprint(n, " clients")
			b.add(of, agentctl, "s", took.Seconds())
			b.add(of+", processor", agentctl, "s", after-before)
			b.add(of+", presence", agentctl, "lines", float64(lines))
			if err := b.stop(s); err != nil {
				return err
			}
		}
	}
	return nil
}
