package main

import (
	"context"
	"fmt"

	"agentctl/protocol"
)

// measureFlood measures the rate of an agent that never pauses, while clients read all of it, or its
// folds.
func measureFlood(ctx context.Context, b *bench) error {
	s, err := b.start(ctx, "")
	if err != nil {
		return err
	}
	for range b.Repeat {
		for _, w := range []struct {
			clients int
			folding bool
		}{{}, {10, false}, {100, false}, {b.pick(200, 1000), true}} {
			if err := flood(ctx, b, s, w.clients, w.folding); err != nil {
				return fmt.Errorf("%d clients: %w", w.clients, err)
			}
		}
	}
	return nil
}

// flood measures the rate of the agent while clients read.
func flood(ctx context.Context, b *bench, s *instance, n int, folding bool) error {
	id, err := s.create(ctx)
	if err != nil {
		return err
	}
	of, events := fmt.Sprint(n, " clients"), b.pick(100_000, 400_000)
	if folding {
		of += " that fold"
	}
	clients, err := connect(n, func(int) (*client, error) {
		if !folding {
			return s.follow(ctx, id)
		}
		c, err := s.subscribe(ctx, id, protocol.SubscribeData{})
		if err != nil {
			return nil, err
		}
		return c, c.readUntil(caughtUpMark)
	})
	if err != nil {
		return err
	}
	defer closeAll(clients)
	var rate float64
	_, used, err := measureCost(s, func() error {
		if err := s.publish(ctx, job{Events: events}, id); err != nil {
			return err
		}
		read := make(chan error, 1)
		go func() {
			read <- parallel(n, func(i int) error {
				if folding {
					return clients[i].readUntil(turnEndedMark)
				}
				return clients[i].readDeltas(events)
			})
		}()
		took, err := s.turnTime(ctx, id)
		if err != nil {
			return err
		}
		rate = float64(events) / took.Seconds()
		return <-read
	})
	b.add(of, s.String(), "events/s", rate)
	b.add(of+", processor", s.String(), "s per million", used/float64(events)*1e6)
	return err
}
