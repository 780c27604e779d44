package plain

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"agentctl/internal/tuitest"
)

func FuzzTyped(f *testing.F) {
	for _, line := range []string{
		"hello", "//path", "/approve", "/deny p1 no", "/keep 1, 3", "/keep p1 0 -1 99999999999999999999", "/replan x", "/answer q1 db=pg name=a=b", "/answer =", "/option", "/now 1",
		"/edit 2 text", "/edit -1 x", "/move 1 2 3", "/interrupt hold", "/queue", "/status", "/retry", "/", "/ ", "/\x1b[2J", "/approve \u202e",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, name := range []string{"tasks to confirm", "question", "queue"} {
			p := &plainSession{renderer: newRenderer(time.UTC), session: tuitest.NewFakeSession(), work: make(chan func(context.Context) string, 1), quit: func() {}}
			for _, u := range tuitest.Scenes[name]().Take() {
				p.renderer.update(u)
			}
			p.renderer.out.Reset()
			p.runLine(inputLine{line: line})
			if got := p.renderer.out.String(); strings.ContainsAny(got, "\x1b\u202e\u009b\r\a") || !utf8.ValidString(got) {
				t.Errorf("%q tells %q", line, got)
			}
		}
	})
}

func TestWhateverHappensIsTold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := newRenderer(time.UTC)
		j := tuitest.NewJournal()
		for range rapid.IntRange(1, 40).Draw(rt, "events") {
			tuitest.DrawEvent(rt, j)
			for _, u := range j.Take() {
				n.update(u)
			}
			j.Seq = n.state.Seq
		}
		if got := n.out.String(); strings.ContainsAny(got, "\x1b\u202e\u009b\r\a") || !utf8.ValidString(got) {
			rt.Fatalf("a control is told: %q", got)
		}
	})
}
