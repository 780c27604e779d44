package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
)

// library is the reference of the row append: SQLite's C library.
const library = "C library"

// measureAppend measures events that are stored without a client, the processor time of the server
// and the bytes that they take. With -peers, the C library of SQLite appends the same events as
// rows.
func measureAppend(ctx context.Context, b *bench) error {
	reference := ""
	if b.Peers {
		var err error
		if reference, err = buildReference(ctx, b.dir, "sqlite"); err != nil {
			return err
		}
	}
	for range b.Repeat {
		for _, sessions := range []int{1, 100} {
			of, events := fmt.Sprint(sessions, " sessions"), b.pick(100_000, 500_000)/sessions
			rate, err := appendEvents(ctx, b, of, sessions, events)
			if err != nil {
				return err
			}
			if reference == "" {
				continue
			}
			limit, err := appendRows(ctx, b, reference, of, sessions, events)
			if err != nil {
				return err
			}
			b.add(of+", of the C library", agentctl, "ratio", rate/limit)
		}
	}
	return nil
}

// appendEvents measures agentctl and returns the events of a second.
func appendEvents(ctx context.Context, b *bench, of string, sessions, events int) (float64, error) {
	s, err := b.start(ctx, agentctl, "", 0)
	if err != nil {
		return 0, err
	}
	ids := make([]string, sessions)
	for i := range ids {
		if ids[i], err = s.create(ctx); err != nil {
			return 0, err
		}
	}
	total := float64(events * sessions)
	took, used, err := s.measureTurns(ctx, job{Events: events}, ids...)
	if err != nil {
		return 0, err
	}
	b.add(of, agentctl, "events/s", total/took)
	b.add(of+", processor", agentctl, "s per million", used/total*1e6)
	if err := b.stop(s); err != nil {
		return 0, err
	}
	size, err := directorySize(s.dir)
	b.add(of+", stored", agentctl, "B per event", size/total)
	return total / took, err
}

// measureTurns carries out a job in sessions without a client that reads their events. It returns
// the time that took and the processor time of the server, in seconds.
func (s *instance) measureTurns(ctx context.Context, j job, ids ...string) (took, used float64, err error) {
	before, err := s.cpu()
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if err := s.publish(ctx, j, ids...); err != nil {
		return 0, 0, err
	}
	if err := s.awaitIdle(ctx, j, ids...); err != nil {
		return 0, 0, err
	}
	took = time.Since(began).Seconds()
	after, err := s.cpu()
	return took, after - before, err
}

// awaitIdle waits for the end of the turns that publish began, and checks that each has stored its
// events. It reads the list of sessions, which costs the server less than finish, which reads the
// events.
func (s *instance) awaitIdle(ctx context.Context, j job, ids ...string) error {
	waiting := map[string]uint64{}
	for _, id := range ids {
		at, _ := s.sent.Load(id)
		waiting[id], _ = at.(uint64)
	}
	for sum, err := range s.client.Watch(ctx) {
		if err != nil {
			return err
		}
		at, ok := waiting[sum.Session]
		if !ok || sum.Seq <= at || sum.Turn != "" {
			continue
		}
		if sum.Reason != protocol.ReasonCompleted || sum.Seq-at < uint64(j.Events) {
			return fmt.Errorf("%d of %d events are stored, and the turn is %s", sum.Seq-at, j.Events, sum.Reason)
		}
		if delete(waiting, sum.Session); len(waiting) == 0 {
			return nil
		}
	}
	return ctx.Err()
}

// appendRows measures the C library and returns the events of a second.
func appendRows(ctx context.Context, b *bench, program, of string, sessions, events int) (float64, error) {
	dir, err := os.MkdirTemp(b.dir, "rows-")
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, program, dir, strconv.Itoa(sessions), strconv.Itoa(events))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("append with %s: %w", library, err)
	}
	took, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		return 0, fmt.Errorf("append with %s: %w", library, err)
	}
	total := float64(events * sessions)
	used := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	b.add(of, library, "events/s", total/took)
	b.add(of+", processor", library, "s per million", used/total*1e6)
	size, err := directorySize(dir)
	b.add(of+", stored", library, "B per event", size/total)
	return total / took, err
}

// buildReference builds a program of the directory reference, a module of its own, in dir.
func buildReference(ctx context.Context, dir, name string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	program := filepath.Join(dir, name+"-reference")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	build.Dir = filepath.Join(strings.TrimSpace(string(root)), "internal", "bench", "reference", name)
	if name == "sqlite" {
		build.Env = append(build.Environ(), "CGO_ENABLED=1")
	}
	if out, err := build.CombinedOutput(); err != nil {
		if name == "sqlite" {
			return "", fmt.Errorf("build SQLite, which needs a C compiler (gcc, libc6-dev): %w\n%s", err, out)
		}
		return "", fmt.Errorf("build the reference %s: %w\n%s", name, err, out)
	}
	return program, nil
}
