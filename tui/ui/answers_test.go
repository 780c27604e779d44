package ui

import (
	"testing"
	"time"
)

func TestTheOldestRequestWithoutAnAnswerIsNamed(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	a := NewAnswers(func() time.Time { return now })
	want := func(text string) {
		t.Helper()
		if got := a.Text(); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
	want("")
	first := a.Expect("box")
	now = now.Add(4 * time.Second)
	second := a.Expect("")
	want("box · no answer for 4s")
	first()
	want("")
	now = now.Add(5 * time.Second)
	want("no answer for 5s")
	a.Restart()
	want("")
	if !a.Waiting() {
		t.Error("no request waits after the connection was made again")
	}
	second()
	if a.Waiting() {
		t.Error("a request waits after the last answer")
	}
}
