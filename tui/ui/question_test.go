package ui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
)

func TestOnlyMovesAndEnterAnswerAQuestion(t *testing.T) {
	for _, c := range []struct {
		keys   []string
		closed bool
		ran    string
	}{
		{[]string{"enter"}, true, ""},
		{[]string{"esc"}, true, ""},
		{[]string{"right", "enter"}, true, "one"},
		{[]string{"tab", "down", "down", "enter"}, true, "two"},
		{[]string{"down", "down", "left", "enter"}, true, "one"},
		{[]string{"j", "y", "o", "q", "space", "]", "G"}, false, ""},
		{[]string{"j", "]", "G", "space", "enter"}, true, ""},
	} {
		ran := ""
		run := func(name string) func() tea.Cmd {
			return func() tea.Cmd { ran = name; return nil }
		}
		q := NewQuestion(NewStyles(time.UTC, ""), "sure?", Choice{"One", run("one")}, Choice{"Two", run("two")})
		closed := false
		for _, key := range c.keys {
			closed = closed || q.Update(tuitest.KeyPress(key)).Close
		}
		if closed != c.closed || ran != c.ran {
			t.Errorf("%v: closed %v, ran %q", c.keys, closed, ran)
		}
	}
	q := NewQuestion(NewStyles(time.UTC, ""), "sure?")
	q.Until = func(msg tea.Msg) bool { return msg == "gone" }
	if q.Update("other").Close || !q.Update("gone").Close {
		t.Error("a message does not close the question")
	}
}
