package list

import (
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
)

func TestTheOldestQueuedMessageHasAnAge(t *testing.T) {
	x, now := New[int](), time.Now()
	for id, queued := range map[string]time.Time{"s_1": now, "s_2": now.Add(-time.Hour), "s_3": {}} {
		x.Add(protocol.Summary{Session: id}, nil)
		x.Update(protocol.Summary{Session: id}, queued)
	}
	if got := x.OldestQueued(); !got.Equal(now.Add(-time.Hour)) {
		t.Errorf("%v", got)
	}
	x.Update(protocol.Summary{Session: "s_2"}, time.Time{})
	x.SetQueued("s_1", time.Time{})
	if got := x.OldestQueued(); !got.IsZero() {
		t.Errorf("%v after the queues are empty", got)
	}
}

func TestASessionIsFoundByIDNameAndPrefix(t *testing.T) {
	const a, b = "s_abcdef", "s_abxyz"
	x := New[int]()
	x.Add(protocol.Summary{Session: a, Name: "box"}, nil)
	if _, err := x.Resolve("s_"); protocol.CodeOf(err) != protocol.CodeNoSession {
		t.Errorf("what all ids begin with names the only session: %v", err)
	}
	x.Add(protocol.Summary{Session: b}, nil)
	for name, want := range map[string]string{a: a, "box": a, a[:6]: a, a[2:6]: a, b[2:]: b} {
		if got, err := x.Resolve(name); got != want {
			t.Errorf("%s is %s, %v", name, got, err)
		}
	}
	for name, code := range map[string]protocol.Code{
		"": protocol.CodeNoSession, "s_": protocol.CodeNoSession, "bo": protocol.CodeNoSession,
		"s_ab": protocol.CodeAmbiguous, "ab": protocol.CodeAmbiguous,
	} {
		if _, err := x.Resolve(name); protocol.CodeOf(err) != code {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestANameIsOfOneSession(t *testing.T) {
	x := New[int]()
	for _, step := range []struct {
		name, id string
		code     protocol.Code
	}{
		{"box", "s_1", ""},
		{"box", "s_1", ""},
		{"box", "s_2", protocol.CodeNameTaken},
		{" x", "s_2", protocol.CodeInvalidMessage},
		{"s_x", "s_2", protocol.CodeInvalidMessage},
		{"a\nb", "s_2", protocol.CodeInvalidMessage},
		{"\x00", "s_2", protocol.CodeInvalidMessage},
		{strings.Repeat("x", 200), "s_2", protocol.CodeInvalidMessage},
	} {
		if err := x.ReserveName(step.name, step.id); protocol.CodeOf(err) != step.code {
			t.Errorf("%q for %s: %v", step.name, step.id, err)
		}
	}
	x.ReleaseName("box")
	if err := x.ReserveName("box", "s_2"); err != nil {
		t.Errorf("after its release: %v", err)
	}
}

// A watcher keeps the keys of the lines that it gets.
type watcher []string

func (w *watcher) Notify(key string, _ []byte) { *w = append(*w, key) }

func TestTheListBeginsWithTheNewestActivity(t *testing.T) {
	x, now := New[int](), time.Unix(1e9, 0)
	sum := func(id string, after time.Duration) protocol.Summary {
		return protocol.Summary{Session: id, Updated: now.Add(after)}
	}
	for i, id := range []string{"a", "b", "c", "d", "e"} {
		x.Add(sum(id, time.Duration(i)*time.Second), nil)
	}
	x.Update(sum("b", time.Minute), time.Time{})
	order := func(list []protocol.Summary) (got string) {
		for _, s := range list {
			got += s.Session
		}
		return got
	}
	if got := order(x.List(false)); got != "bedca" {
		t.Errorf("listed %q", got)
	}
	closed := sum("a", 0)
	closed.Status = protocol.Closed
	x.Update(closed, time.Time{})
	var w watcher
	if got := order(x.Watch(&w)); got != "bedca" {
		t.Errorf("Watch returned %q", got)
	}
	if got := order(x.List(false)); got != "bedc" {
		t.Errorf("listed %q with a closed one", got)
	}
	x.Update(sum("c", time.Hour), time.Time{})
	x.Unwatch(&w)
	x.Update(sum("d", time.Hour), time.Time{})
	if !slices.Equal(w, watcher{"summary c"}) {
		t.Errorf("notified of %q", w)
	}
}
