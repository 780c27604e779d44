package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"agentctl/protocol"
)

// measureAppend measures events that are stored without a client: their rate, the processor time of
// the server and the bytes that they take.
func measureAppend(ctx context.Context, b *bench) error {
	for range b.Repeat {
		for _, sessions := range []int{1, 100} {
			s, err := b.start(ctx, "")
			if err != nil {
				return err
			}
			ids, err := s.createMany(ctx, sessions)
			if err != nil {
				return err
			}
			events := b.pick(100_000, 500_000) / sessions
			took, used, err := measureCost(s, func() error {
				if err := s.publish(ctx, job{Events: events}, ids...); err != nil {
					return err
				}
				return s.awaitStored(ctx, events, ids...)
			})
			if err != nil {
				return err
			}
			if err := s.stop(); err != nil {
				return err
			}
			size, err := directorySize(s.dir)
			if err != nil {
				return err
			}
			of, total := fmt.Sprint(sessions, " sessions"), float64(events*sessions)
			b.add(of, s.String(), "events/s", total/took)
			b.add(of+", processor", s.String(), "s per million", used/total*1e6)
			b.add(of+", stored", s.String(), "B per event", size/total)
		}
	}
	return nil
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

// measureCatchUp measures clients that read a log of 100,000 events from its start: right after a
// start of the server, then from its memory, as events, as folds and by server-sent events.
func measureCatchUp(ctx context.Context, b *bench) error {
	const events = 100_000
	s, err := b.start(ctx, "")
	if err != nil {
		return err
	}
	id, err := s.create(ctx)
	if err != nil {
		return err
	}
	if err := s.publish(ctx, job{Events: events}, id); err != nil {
		return err
	}
	if err := s.awaitStored(ctx, events, id); err != nil {
		return err
	}
	many := b.pick(20, 100)
	for range b.Repeat {
		if err := s.stop(); err != nil {
			return err
		}
		if s, err = b.start(ctx, s.dir); err != nil {
			return err
		}
		for _, w := range []struct {
			of, server string
			clients    int
		}{
			{"after a start", s.String(), 1},
			{"after a start", folds, 1},
			{"1 client", s.String(), 1},
			{"1 client", folds, 1},
			{"1 client", sse, 1},
			{fmt.Sprint(many, " clients"), s.String(), many},
			{fmt.Sprint(many, " clients"), folds, many},
		} {
			began := time.Now()
			err := parallel(w.clients, func(int) error { return readLog(ctx, s, w.server, id, events) })
			if err != nil {
				return fmt.Errorf("%s of %s: %w", w.of, w.server, err)
			}
			b.add(w.of, w.server, "ms", time.Since(began).Seconds()*1e3)
		}
	}
	return nil
}

// readLog reads a session from its start in one of agentctl's ways.
func readLog(ctx context.Context, s *instance, way, id string, events int) error {
	dial := func() (*client, error) {
		if way == sse {
			return s.stream(ctx, id, "since=0")
		}
		return s.subscribe(ctx, id, protocol.SubscribeData{Position: &protocol.Position{}, Raw: way != folds})
	}
	c, err := dial()
	if err != nil {
		return err
	}
	defer c.close()
	if way == folds {
		return c.readUntil(caughtUpMark)
	}
	return c.readDeltas(events)
}
