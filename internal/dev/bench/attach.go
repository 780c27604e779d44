package main

import (
	"context"
	"fmt"
)

// measureAttach measures clients that attach to one session and to 100, so many that the default
// limit of the server would refuse them: the processor time and the memory of each, the lines about
// other clients that they receive, and the time of an event of each session to all of them.
func measureAttach(ctx context.Context, b *bench) error {
	for range b.Repeat {
		for _, c := range []struct{ clients, sessions int }{{1000, 1}, {b.pick(2_000, 10_000), 100}} {
			s, err := b.start(ctx, "")
			if err != nil {
				return err
			}
			of := fmt.Sprintf("%d clients of %d sessions", c.clients, c.sessions)
			if err := attach(ctx, b, s, of, c.clients, c.sessions); err != nil {
				return fmt.Errorf("%s: %w", of, err)
			}
			if err := s.stop(); err != nil {
				return err
			}
		}
	}
	return nil
}

func attach(ctx context.Context, b *bench, s *instance, of string, n, sessions int) error {
	ids, err := s.createMany(ctx, sessions)
	if err != nil {
		return err
	}
	before, err := s.memory()
	if err != nil {
		return err
	}
	var clients []*client
	defer func() { closeAll(clients) }()
	_, attached, err := measureCost(s, func() error {
		clients, err = connect(n, func(i int) (*client, error) { return s.follow(ctx, ids[i%sessions]) })
		return err
	})
	if err != nil {
		return err
	}
	after, err := s.memory()
	if err != nil {
		return err
	}
	// The event that all get follows everything that the attachments caused.
	took, _, err := measureCost(s, func() error {
		if err := s.publish(ctx, job{Events: 1}, ids...); err != nil {
			return err
		}
		return readAll(clients, 1)
	})
	if err != nil {
		return err
	}
	lines := 0
	for _, c := range clients {
		lines += c.presence
	}
	b.add(of+", processor", s.String(), "s", attached)
	b.add(of+", memory of one", s.String(), "B", (after-before)/float64(n))
	b.add(of+", presence", s.String(), "lines", float64(lines))
	b.add(of+", an event to all", s.String(), "ms", took*1e3)
	return nil
}
