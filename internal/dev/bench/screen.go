package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// lastWord ends the transcripts of the sessions that are shown.
const lastWord = "the-last-word"

// A shown session is one that the screen opens.
type shown struct {
	of    string
	turns int
	each  int // deltas in a turn
	id    string
}

// measureScreen measures the screen of sessions on a terminal: the time from the start of the
// program to its first bytes and to the last word of the transcript, and its processor time.
func measureScreen(ctx context.Context, b *bench) error {
	if !hasTerminals {
		fmt.Fprintln(os.Stderr, "screen: this system has no pseudo-terminals")
		return nil
	}
	program, hello, err := b.buildPrograms(ctx)
	if err != nil {
		return err
	}
	s, err := b.start(ctx, agentctl, "", 0)
	if err != nil {
		return err
	}
	sessions := []*shown{
		{of: "16 events", turns: 1, each: 12},
		{of: "100k events in turns", turns: 200, each: 497},
		{of: "100k events in one turn", turns: 1, each: 100_000},
	}
	for _, x := range sessions {
		if err := x.create(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", x.of, err)
		}
	}
	home, err := os.MkdirTemp(b.dir, "home-")
	if err != nil {
		return err
	}
	for range b.Repeat * b.pick(5, 10) {
		if err := b.show(ctx, home, "hello", "hello", hello); err != nil {
			return err
		}
		for _, x := range sessions {
			err := b.show(ctx, home, x.of, lastWord,
				program, "attach", "--server", "ws://"+s.address, "--token", token, "--no-alert", x.id)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// create creates the session and its turns.
func (x *shown) create(ctx context.Context, s *instance) (err error) {
	if x.id, err = s.create(ctx); err != nil {
		return err
	}
	for i := range x.turns {
		j := job{Events: x.each}
		if i == x.turns-1 {
			j.End = "\n\n" + lastWord
		}
		if err := s.publish(ctx, j, x.id); err != nil {
			return err
		}
		if err := s.finish(ctx, x.id); err != nil {
			return err
		}
	}
	return nil
}

// show runs a program on a terminal until it shows a text, and adds what it took.
func (b *bench) show(ctx context.Context, home, of, text string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	env := append(os.Environ(), "HOME="+home, "TERM=xterm-256color", "COLORTERM=truecolor")
	for _, name := range []string{"CONFIG", "STATE", "DATA", "CACHE", "RUNTIME"} {
		env = append(env, "XDG_"+name+"_"+map[bool]string{true: "DIR", false: "HOME"}[name == "RUNTIME"]+"="+home)
	}
	first, all, processor, err := runOnTerminal(ctx, env, text, args)
	if err != nil {
		return fmt.Errorf("%s: %s: %w", of, strings.Join(args[:min(len(args), 2)], " "), err)
	}
	for _, r := range []struct {
		what string
		took time.Duration
	}{{"first bytes", first}, {"last word", all}, {"processor", processor}} {
		b.add(of+", "+r.what, "program", "ms", r.took.Seconds()*1e3)
	}
	return nil
}
