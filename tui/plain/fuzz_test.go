package plain

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"agentctl/internal/dev/tuitest"
)

// hasControl reports whether a text is invalid UTF-8 or contains a control character.
func hasControl(s string) bool {
	return strings.ContainsAny(s, "\x1b\u202e\u009b\r\a") || !utf8.ValidString(s)
}

func FuzzInputLine(f *testing.F) {
	for _, line := range []string{
		"hello", "//path", "/approve", "/deny p1 no", "/keep 1, 3", "/keep p1 0 -1 99999999999999999999",
		"/replan x", "/answer q1 db=pg name=a=b", "/answer =", "/option", "/now 1",
		"/edit 2 text", "/edit -1 x", "/move 1 2 3", "/interrupt hold", "/queue", "/status", "/retry",
		"/", "/ ", "/\x1b[2J", "/approve \u202e",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, name := range []string{"tasks to confirm", "question", "queue"} {
			c := &client{
				renderer: newRenderer(time.UTC), session: tuitest.NewFakeSession(),
				tasks: make(chan task, 1), quit: func() {},
			}
			for _, u := range tuitest.Scenes[name]().Take() {
				c.renderer.update(u)
			}
			c.renderer.out.Reset()
			c.runLine(inputLine{line: line})
			if got := c.renderer.out.String(); hasControl(got) {
				t.Errorf("input %q printed %q", line, got)
			}
		}
	})
}

func TestRandomEventsRenderSafely(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRenderer(time.UTC)
		j := tuitest.NewJournal()
		for range rapid.IntRange(1, 40).Draw(rt, "events") {
			tuitest.DrawEvent(rt, j)
			for _, u := range j.Take() {
				r.update(u)
			}
			j.Seq = r.state.Seq
		}
		if got := r.out.String(); hasControl(got) {
			rt.Fatalf("control character in %q", got)
		}
	})
}
