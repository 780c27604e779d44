package main

import (
	"context"
	"fmt"
	"time"

	"agentctl/protocol"
)

// measureFlood measures the rate of an agent that never pauses, while clients read all of it, or
// its folds. It is the last row, see yield.
func measureFlood(ctx context.Context, b *bench) error {
	all, err := b.startAll(ctx, agentctl)
	if err != nil {
		return err
	}
	if err := yield(); err != nil {
		return err
	}
	for range b.Repeat {
		for _, w := range []struct {
			clients int
			folding bool
		}{{}, {1, false}, {10, false}, {100, false}, {100, true}, {b.pick(200, 1000), true}} {
			if err := flood(ctx, b, all[0], w.clients, w.folding); err != nil {
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
	of := fmt.Sprint(n, " clients")
	clients := make([]*client, n)
	events := b.pick(100_000, 400_000)
	defer func() { closeAll(clients) }()
	if folding {
		of = fmt.Sprint(n, " folding clients")
		err = parallel(n, func(i int) (err error) {
			if clients[i], err = dialWebSocket(ctx, s.address, id, protocol.SubscribeData{}, 0); err != nil {
				return err
			}
			return clients[i].readUntil(caughtUpMark)
		})
	} else {
		clients, err = s.follow(ctx, b, id, n)
	}
	if err != nil {
		return err
	}
	before, err := s.cpu()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := s.publish(ctx, job{Events: events}, id); err != nil {
		return err
	}
	readers := make(chan error, 1)
	go func() {
		if folding {
			readers <- parallel(n, func(i int) error { return clients[i].readUntil(turnEndedMark) })
			return
		}
		_, err := readAll(clients, events, began)
		readers <- err
	}()
	took, err := s.turnTime(ctx, id)
	if err != nil {
		return err
	}
	after, err := s.cpu()
	b.add(of, agentctl, "events/s", float64(events)/took.Seconds())
	b.add(of+", processor", agentctl, "s per million", (after-before)/float64(events)*1e6)
	if readErr := <-readers; readErr != nil {
		return readErr
	}
	return err
}
