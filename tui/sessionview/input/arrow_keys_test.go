package input

import (
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
)

// A burst of arrows comes from a mouse wheel. Its first one is undone once: it was handled as a key
// press.
func TestArrowsOfABurstComeFromAMouseWheel(t *testing.T) {
	now := tuitest.Start
	a := arrowKeys{now: func() time.Time { return now }}
	for i, test := range []struct {
		after      time.Duration
		wheel      bool
		undo       *arrowPress // the expected effect to undo
		recalledBy int         // by the arrow, if it is a key press
	}{
		{after: time.Hour, recalledBy: 1},
		{after: keyInterval, recalledBy: -1},
		{after: keyInterval - 1, wheel: true, undo: &arrowPress{cursor: 1, recalled: -1}},
		{after: 0, wheel: true},
		{after: keyInterval - 1, wheel: true},
		{after: keyInterval},
		{after: time.Millisecond, wheel: true, undo: &arrowPress{cursor: 5}},
	} {
		now = now.Add(test.after)
		undo, wheel := a.next(i)
		if wheel != test.wheel || (undo == nil) != (test.undo == nil) || undo != nil && *undo != *test.undo {
			t.Errorf("arrow %d: got wheel %v, undo %+v, want %v, %+v", i, wheel, undo, test.wheel, test.undo)
		}
		a.recalled(test.recalledBy)
	}
}

func TestWheelAsArrowsScrolls(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 60)
	s.send("sent before")
	scroll := func(key string, want int) {
		t.Helper()
		s.Time = s.Time.Add(time.Second)
		s.rows = 0
		for range 3 {
			s.update(tuitest.KeyPress(key))
		}
		if s.rows != want {
			t.Errorf("three times %s: scrolled by %d rows, want %d", key, s.rows, want)
		}
	}
	scroll("up", -3)
	s.mustCompose("")
	scroll("down", 3)
	s.mustCompose("")
	s.keys("up")
	s.mustCompose("sent before")
	scroll("up", -3)
	s.mustCompose("sent before")
	s.keys("esc")
	s.typeText("a draft")
	before := s.in.composer.Cursor()
	scroll("up", -3)
	if got := s.in.composer.Cursor(); got != before {
		t.Errorf("the wheel moves the cursor from %d to %d", before, got)
	}
}
