package tui

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/thorough"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/plain"
	"agentctl/tui/ui"
)

// TestMain runs the tests. If TUI_DEMO names a recorded session, it shows that session on the
// terminal instead, with the theme in TUI_THEME:
//
//	go test -c -o tui.test ./tui && TUI_DEMO=approval ./tui.test
func TestMain(m *testing.M) {
	thorough.Checks(40, 100)
	if where := os.Getenv(panicEnv); where != "" {
		os.Exit(runPanicProcess(where))
	}
	name := os.Getenv("TUI_DEMO")
	if name == "" {
		os.Exit(m.Run())
	}
	if err := demo(name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// demo shows a recorded session until the user leaves. TUI_PLAIN selects the plain output.
func demo(name string) error {
	scene, ok := tuitest.Scenes[name]
	if !ok {
		return fmt.Errorf("no scene %q", name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := tuitest.NewFakeSession()
	j := scene()
	r.Reply = func(a tuitest.Command) (any, error) {
		switch a.Verb {
		case protocol.DoApprove:
			return nil, &protocol.Error{
				Code:    protocol.CodeConflict,
				Message: "already decided",
				Winner:  &protocol.Winner{By: tuitest.Bob, Outcome: protocol.Denied},
			}
		case protocol.DoHistory:
			return protocol.HistoryResult{}, nil
		}
		return nil, nil
	}
	go func() {
		for _, u := range j.Take() {
			r.Feed <- u
		}
		if name != "stream" {
			return
		}
		words := strings.Fields("the quick brown fox jumps over the lazy dog and 漢字 too")
		for i := 0; ctx.Err() == nil; i++ {
			j.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: " " + words[i%len(words)]})
			for _, u := range j.Take() {
				r.Feed <- u
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if os.Getenv("TUI_PLAIN") != "" {
		return plain.Run(ctx, r, os.Stdout, os.Stdin, plain.Options{})
	}
	return Run(ctx, r, Options{Zone: time.UTC, Theme: ui.Theme(os.Getenv("TUI_THEME"))})
}
