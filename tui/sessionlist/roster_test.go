package sessionlist

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

var dawn = time.Date(2026, 3, 4, 9, 41, 0, 0, time.UTC)

func at(minutes int) time.Time { return dawn.Add(time.Duration(minutes) * time.Minute) }

func asked(minutes int) *time.Time {
	t := at(minutes)
	return &t
}

func ids(r *List) []string {
	out := []string{}
	for i := range r.Len() {
		out = append(out, r.At(i).Session)
	}
	return out
}

func fleet() []protocol.Summary {
	return []protocol.Summary{
		{Session: "s1", Name: "docs", Agent: "claude", Status: protocol.Idle, Updated: at(0), Reason: protocol.ReasonCompleted, Percent: 12},
		{Session: "s2", Name: "Fix-tests", Agent: "gemini", Status: protocol.Running, Turn: "t", Updated: at(1), Percent: 80, CWD: "/home/ada/store"},
		{Session: "s3", Name: "release", Agent: "codex", Status: protocol.Waiting, Turn: "t", Updated: at(0), Asked: asked(-3)},
		{Session: "s4", Name: "old", Agent: "x", Status: protocol.Closed, Updated: at(-60)},
		{Session: "s5", Title: "broken", Agent: "claude", Status: protocol.Idle, Updated: at(-1), Reason: protocol.ReasonError},
		{Session: "s6", Name: "ask", Agent: "codex", Status: protocol.Waiting, Turn: "t", Updated: at(5), Asked: asked(-9)},
		{Session: "s7", Name: "held", Agent: "codex", Status: protocol.Idle, Updated: at(-2), Queue: 1, Held: true},
	}
}

func TestEveryOrderHasItsFirst(t *testing.T) {
	for by, want := range map[Order][]string{
		ByNeed:     {"s6", "s3", "s2", "s1", "s5", "s7", "s4"},
		ByActivity: {"s6", "s2", "s1", "s3", "s5", "s7", "s4"},
		ByName:     {"s6", "s5", "s1", "s2", "s7", "s4", "s3"},
		ByAgent:    {"s1", "s5", "s6", "s3", "s7", "s2", "s4"},
		ByContext:  {"s2", "s1", "s6", "s3", "s5", "s7", "s4"},
	} {
		r := New()
		for _, s := range fleet() {
			r.Put(s)
		}
		r.SetOrder(by)
		if got := ids(r); !slices.Equal(got, want) {
			t.Errorf("by %s: %v, want %v", by, got, want)
		}
	}
}

func TestTheOrdersGoRound(t *testing.T) {
	o := ByNeed
	for range orders {
		o = o.Next()
	}
	if o != ByNeed {
		t.Errorf("after all of them comes %s", o)
	}
}

func TestWordsNarrowItDown(t *testing.T) {
	r := New()
	for _, s := range fleet() {
		r.Put(s)
	}
	for words, want := range map[string][]string{
		"FIX":           {"s2"},
		"store gemini":  {"s2"},
		"codex waiting": {"s6", "s3"},
		"none":          {},
		" ":             {"s6", "s3", "s2", "s1", "s5", "s7", "s4"},
	} {
		r.SetFilter(words)
		if got := ids(r); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", words, got, want)
		}
		if words == "FIX" && (r.Index("s1") != -1 || r.Index("s2") != 0 || r.Total() != 7) {
			t.Error("a session that is kept back has a place")
		}
	}
}

// needing is all that Next gives, each time passing over what it gave.
func needing(r *List) []string {
	out := []string{}
	for {
		s, ok := r.NextNeed(func(s string) bool { return slices.Contains(out, s) })
		if !ok {
			return out
		}
		out = append(out, s)
	}
}

func TestWhoNeedsAPersonComesInTurn(t *testing.T) {
	r := New()
	for _, s := range fleet() {
		r.Put(s)
	}
	r.Put(protocol.Summary{Session: "s8", Status: protocol.Idle, Updated: at(2), Reason: protocol.ReasonTimeout})
	r.Put(protocol.Summary{Session: "s9", Status: protocol.Idle, Updated: at(2), Reason: protocol.ReasonInterrupted})
	if got, want := needing(r), []string{"s6", "s3", "s7", "s8", "s5"}; !slices.Equal(got, want) {
		t.Errorf("%v need somebody, want %v", got, want)
	}
	if r.Need("s6") != ApprovalPending || r.Need("s7") != QueueHeld || r.Need("s5") != TurnFailed || r.Need("s1") != 0 || r.Need("nobody") != 0 {
		t.Error("the needs are not told apart")
	}
	r.MarkSeen("s5")
	r.MarkSeen("s8")
	r.Put(protocol.Summary{Session: "s6", Deleted: true})
	if got, want := needing(r), []string{"s3", "s7"}; !slices.Equal(got, want) {
		t.Errorf("%v need somebody, want %v", got, want)
	}
	if r.CountWaiting("") != 1 || r.CountWaiting("s3") != 0 || r.CountWaiting("s1") != 1 {
		t.Error("the waiting are miscounted")
	}
}

func TestAFailureIsNewAfterAnotherTurn(t *testing.T) {
	failed := protocol.Summary{Session: "s", Status: protocol.Idle, Reason: protocol.ReasonError, Updated: dawn}
	r := New()
	r.Put(failed)
	r.MarkSeen("s")
	failed.Clients, failed.Updated = 3, at(1)
	r.Put(failed)
	if r.Need("s") != 0 {
		t.Error("what was seen is told again")
	}
	running := failed
	running.Status, running.Turn = protocol.Running, "t2"
	r.Put(running)
	r.Put(failed)
	if r.Need("s") != TurnFailed {
		t.Error("the next failure is not told")
	}
}

// The roster against what sorting all of it anew gives.
func TestChangesAndSortingAnewAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := New()
		known := map[string]protocol.Summary{}
		by := ByNeed
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				s := protocol.Summary{
					Session: fmt.Sprint("s", rapid.IntRange(0, 9).Draw(t, "session")),
					Name:    rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "name"),
					Status:  rapid.SampledFrom([]protocol.Status{protocol.Idle, protocol.Running, protocol.Waiting, protocol.Closed}).Draw(t, "status"),
					Percent: float64(rapid.IntRange(0, 2).Draw(t, "percent")),
					Updated: at(rapid.IntRange(0, 3).Draw(t, "updated")),
					Deleted: rapid.IntRange(0, 4).Draw(t, "deleted") == 0,
				}
				if s.Status == protocol.Waiting {
					s.Asked = asked(rapid.IntRange(0, 3).Draw(t, "asked"))
				}
				r.Put(s)
				known[s.Session] = s
				if s.Deleted {
					delete(known, s.Session)
				}
			},
			"sort": func(*rapid.T) { by = by.Next(); r.SetOrder(by) },
			"": func(t *rapid.T) {
				anew := New()
				anew.SetOrder(by)
				waiting := 0
				for _, s := range known {
					anew.Put(s)
					if s.Status == protocol.Waiting {
						waiting++
					}
				}
				if got, want := ids(r), ids(anew); !slices.Equal(got, want) {
					t.Fatalf("by %s: %v, want %v", by, got, want)
				}
				if got, want := needing(r), needing(anew); !slices.Equal(got, want) {
					t.Fatalf("need somebody: %v, want %v", got, want)
				}
				if r.CountWaiting("") != waiting || r.Total() != len(known) {
					t.Fatalf("%d of %d wait, want %d of %d", r.CountWaiting(""), r.Total(), waiting, len(known))
				}
				for i, id := range ids(r) {
					if r.Index(id) != i {
						t.Fatalf("%s is at %d, not %d", id, i, r.Index(id))
					}
				}
			},
		})
	})
}

func TestAChangeCostsTheLogarithm(t *testing.T) {
	for _, n := range []int{100, 10_000} {
		r := New()
		compared := 0
		counted := func(by func(a, b *row) int) func(a, b *row) int {
			return func(a, b *row) int { compared++; return by(a, b) }
		}
		r.shown = newTree(counted(byNeed))
		r.needy = newTree(counted(byUrgency))
		session := func(i int) protocol.Summary {
			s := protocol.Summary{Session: fmt.Sprint("s", i), Status: protocol.Running, Turn: "t", Updated: at(i)}
			if i%2 == 0 {
				s.Status, s.Asked = protocol.Waiting, asked(i)
			}
			return s
		}
		for i := range n {
			r.Put(session(i))
		}
		const changes = 1000
		compared = 0
		for i := range changes {
			s := session(i * 7 % n)
			s.Updated = at(n + i)
			r.Put(s)
		}
		// Out of two trees and into them again, each at most some times their best depth.
		if each, most := compared/changes, 4*3*bits.Len(uint(n)); each > most {
			t.Errorf("%d sessions: a change takes %d comparisons, more than %d", n, each, most)
		}
	}
}
