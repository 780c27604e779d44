package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"agentctl/protocol"
)

// measureConnections measures clients that attach to 100 sessions, so many that the default limit
// of the server would refuse them: the time and processor time until all are attached, the memory
// of each, and the time of one event of each session to all of them.
func measureConnections(ctx context.Context, b *bench) error {
	n := b.pick(2_000, 10_000)
	for range b.Repeat {
		s, err := b.start(ctx, agentctl, "", 0)
		if err != nil {
			return err
		}
		if err := connections(ctx, b, s, n); err != nil {
			return fmt.Errorf("%d clients: %w", n, err)
		}
		if err := b.stop(s); err != nil {
			return err
		}
	}
	return nil
}

func connections(ctx context.Context, b *bench, s *instance, n int) error {
	ids, err := s.createMany(ctx, 100)
	if err != nil {
		return err
	}
	memory, err := s.memory()
	if err != nil {
		return err
	}
	cpu, err := s.cpu()
	if err != nil {
		return err
	}
	began := time.Now()
	clients, err := s.attach(ctx, b, ids, n)
	defer closeAll(clients)
	if err != nil {
		return err
	}
	took := time.Since(began)
	attached, err := s.cpu()
	if err != nil {
		return err
	}
	after, err := s.memory()
	if err != nil {
		return err
	}
	began = time.Now()
	if err := s.publish(ctx, job{Events: 1}, ids...); err != nil {
		return err
	}
	got, err := readAll(clients, 1, began)
	if err != nil {
		return err
	}
	b.add("attached", agentctl, "clients", float64(n))
	b.add("attach of one", agentctl, "ms", took.Seconds()*1e3/float64(n))
	b.add("attach of one, processor", agentctl, "ms", (attached-cpu)*1e3/float64(n))
	b.add("memory of one", agentctl, "B", (after-memory)/float64(n))
	b.add("an event to all", agentctl, "ms", got.Seconds()*1e3)
	return nil
}

// dialing is the number of clients that connect at the same time: fewer than a server takes before
// they are authenticated.
const dialing = 128

// attach connects n clients of agentctl, spread evenly over sessions at their ends.
func (s *instance) attach(ctx context.Context, b *bench, ids []string, n int) ([]*client, error) {
	clients := make([]*client, n)
	var next atomic.Int64
	return clients, parallel(dialing, func(int) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return nil
			}
			c, err := dialWebSocket(ctx, s.address, ids[i%len(ids)], protocol.SubscribeData{Raw: true}, b.AckEvents)
			if err != nil {
				return err
			}
			clients[i] = c
			if err := c.readUntil(caughtUpMark); err != nil {
				return err
			}
		}
	})
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
