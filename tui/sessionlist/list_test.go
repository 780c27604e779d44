package sessionlist

import (
	"fmt"
	"maps"
	"math/bits"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "agentctl/internal/dev/golden" // the flag -update
	"agentctl/protocol"
)

var start = time.Date(2026, 3, 4, 9, 41, 0, 0, time.UTC)

// at returns a time in minutes after start.
func at(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }

func asked(minutes int) *time.Time {
	t := at(minutes)
	return &t
}

func created(minutes int) protocol.Attributes {
	return protocol.Attributes{Created: at(minutes), Labels: map[string]string{"team": "infra", "Env": "Prod"}}
}

// ids returns the ids of the shown sessions in order.
func ids(l *List) []string {
	out := []string{}
	for i := range l.Len() {
		out = append(out, l.At(i).Session)
	}
	return out
}

func summaries() []protocol.Summary {
	return []protocol.Summary{
		{
			Session: "s1", Name: "docs", Agent: "claude", Status: protocol.Idle, Updated: at(0),
			Reason: protocol.ReasonCompleted, Progress: protocol.Progress{Cost: 0.5},
		},
		{
			Session: "s2", Name: "Fix-tests", Agent: "gemini", Status: protocol.Running, Turn: "t", Updated: at(1),
			Progress: protocol.Progress{Cost: 2}, CWD: "/home/ada/store",
		},
		{
			Session: "s3", Name: "release", Agent: "codex", Status: protocol.Waiting, Turn: "t", Updated: at(0),
			Asked: asked(-3),
		},
		{Session: "s4", Name: "old", Agent: "x", Status: protocol.Closed, Updated: at(-60), Attributes: created(9)},
		{
			Session: "s5", Title: "broken", Agent: "claude", Status: protocol.Idle, Updated: at(-1),
			Reason: protocol.ReasonError,
		},
		{
			Session: "s6", Name: "ask", Agent: "codex", Status: protocol.Waiting, Turn: "t", Updated: at(5),
			Asked: asked(-9),
		},
		{
			Session: "s7", Name: "held", Agent: "codex", Status: protocol.Idle, Updated: at(-2),
			Queue: 1, Held: true,
		},
	}
}

func TestListOrder(t *testing.T) {
	l := New()
	for _, s := range summaries() {
		l.Put(s)
	}
	if got, want := ids(l), []string{"s6", "s3", "s7", "s5", "s2", "s1", "s4"}; !slices.Equal(got, want) {
		t.Errorf("by need: %v, want %v", got, want)
	}
}

func TestFilterMatchesAllWords(t *testing.T) {
	l := New()
	for _, s := range summaries() {
		l.Put(s)
	}
	for words, want := range map[string][]string{
		"FIX":           {"s2"},
		"store gemini":  {"s2"},
		"codex waiting": {"s6", "s3"},
		"none":          {},
		" ":             {"s6", "s3", "s7", "s5", "s2", "s1", "s4"},

		"status:waiting":        {"s6", "s3"},
		"status:failed":         {"s5"},
		"status:held":           {"s7"},
		"Status:IDLE docs":      {"s1"},
		"status:":               {"s6", "s3", "s7", "s5", "s2", "s1", "s4"},
		"agent:codex held":      {"s7"},
		"dir:ada":               {"s2"},
		"label:team=infra":      {"s4"},
		"label:env=p label:te":  {"s4"},
		"label:env=x":           {},
		"infra":                 {"s4"},
		"other:x":               {},
		"agent:claude docs ":    {"s1"},
		"agent:claude dir:none": {},
	} {
		l.SetFilter(words)
		if got := ids(l); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", words, got, want)
		}
		if words == "FIX" && (l.Index("s1") != -1 || l.Index("s2") != 0 || l.Total() != 7) {
			t.Errorf("indexes %d and %d of %d sessions, want -1 and 0 of 7", l.Index("s1"), l.Index("s2"), l.Total())
		}
	}
}

// allNeeds returns the sessions that need the user.
func allNeeds(l *List) []string {
	out := []string{}
	for session := range l.Needs() {
		out = append(out, session)
	}
	return out
}

// needOf returns why a session needs the user, or 0.
func needOf(l *List, session string) Need { return maps.Collect(l.Needs())[session] }

func TestNeedsOrder(t *testing.T) {
	l := New()
	for _, s := range summaries() {
		l.Put(s)
	}
	l.Put(protocol.Summary{Session: "s8", Status: protocol.Idle, Updated: at(2), Reason: protocol.ReasonTimeout})
	l.Put(protocol.Summary{Session: "s9", Status: protocol.Idle, Updated: at(2), Reason: protocol.ReasonInterrupted})
	if got, want := allNeeds(l), []string{"s6", "s3", "s7", "s8", "s5"}; !slices.Equal(got, want) {
		t.Errorf("sessions with needs: %v, want %v", got, want)
	}
	for session, want := range map[string]Need{
		"s6": ApprovalPending, "s7": QueueHeld, "s5": TurnFailed, "s1": 0, "unknown": 0,
	} {
		if got := needOf(l, session); got != want {
			t.Errorf("Need(%q) = %d, want %d", session, got, want)
		}
	}
	l.MarkSeen("s5")
	l.MarkSeen("s8")
	l.Put(protocol.Summary{Session: "s6", Deleted: true})
	if got, want := allNeeds(l), []string{"s3", "s7"}; !slices.Equal(got, want) {
		t.Errorf("sessions with needs: %v, want %v", got, want)
	}
	for except, want := range map[string]int{"": 2, "s3": 1, "s1": 2} {
		if got := l.CountWaiting(except); got != want {
			t.Errorf("CountWaiting(%q) = %d, want %d", except, got, want)
		}
	}
}

func TestNewFailureIsUnseen(t *testing.T) {
	failed := protocol.Summary{Session: "s", Status: protocol.Idle, Reason: protocol.ReasonError, Updated: start}
	l := New()
	l.Put(failed)
	l.MarkSeen("s")
	failed.Clients, failed.Updated = 3, at(1)
	l.Put(failed)
	if needOf(l, "s") != 0 {
		t.Error("a seen failure is a need again")
	}
	running := failed
	running.Status, running.Turn = protocol.Running, "t2"
	l.Put(running)
	l.Put(failed)
	if needOf(l, "s") != TurnFailed {
		t.Error("the next failure is not a need")
	}
}

// After changes, the list equals a new list of the same sessions.
func TestChangedListEqualsNewList(t *testing.T) {
	statuses := []protocol.Status{protocol.Idle, protocol.Running, protocol.Waiting, protocol.Closed}
	rapid.Check(t, func(t *rapid.T) {
		l := New()
		known := map[string]protocol.Summary{}
		by, filter := ByNeed, ""
		circles := rapid.Bool().Draw(t, "circles") // of parents, which sub-agents cannot have
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				s := protocol.Summary{
					Session:  fmt.Sprint("s", rapid.IntRange(0, 9).Draw(t, "session")),
					CWD:      rapid.SampledFrom([]string{"", "/a", "/b"}).Draw(t, "directory"),
					Name:     rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "name"),
					Status:   rapid.SampledFrom(statuses).Draw(t, "status"),
					Progress: protocol.Progress{Cost: float64(rapid.IntRange(0, 2).Draw(t, "cost"))},
					Held:     rapid.Bool().Draw(t, "held"), Queue: 1,
					Updated: at(rapid.IntRange(0, 3).Draw(t, "updated")),
					Deleted: rapid.IntRange(0, 4).Draw(t, "deleted") == 0,
				}
				s.Parent = rapid.SampledFrom([]string{"", "", "s0", "s1", "s2"}).Draw(t, "parent")
				if !circles && s.Parent >= s.Session {
					s.Parent = ""
				}
				s.SubAgent = !circles && s.Parent != "" && rapid.Bool().Draw(t, "sub-agent")
				if s.Status == protocol.Waiting {
					s.Asked = asked(rapid.IntRange(0, 3).Draw(t, "asked"))
				}
				l.Put(s)
				known[s.Session] = s
				if s.Deleted {
					delete(known, s.Session)
				}
			},
			"sort": func(*rapid.T) { by = l.NextOrder(); l.SetOrder(by) },
			"filter": func(t *rapid.T) {
				filter = rapid.SampledFrom([]string{"", "", "a", "status:waiting", "status:failed"}).Draw(t, "filter")
				l.SetFilter(filter)
			},
			"collapse": func(t *rapid.T) {
				id := fmt.Sprint("s", rapid.IntRange(0, 2).Draw(t, "session"))
				l.ToggleCollapsed(id)
			},
			"": func(t *rapid.T) {
				fresh := New()
				fresh.SetOrder(by)
				fresh.SetFilter(filter)
				fresh.collapsed = maps.Clone(l.collapsed)
				waiting := 0
				for _, s := range known {
					fresh.Put(s)
					if (s.Status == protocol.Waiting || s.Status == protocol.Idle && s.Held && s.Queue > 0) && !s.SubAgent {
						waiting++
					}
				}
				if got, want := ids(l), ids(fresh); !slices.Equal(got, want) {
					t.Fatalf("by %s: %v, want %v", by, got, want)
				}
				if got, want := allNeeds(l), allNeeds(fresh); !slices.Equal(got, want) {
					t.Fatalf("sessions with needs: %v, want %v", got, want)
				}
				if l.CountWaiting("") != waiting || l.Total() != len(known) {
					t.Fatalf("%d of %d sessions waiting, want %d of %d",
						l.CountWaiting(""), l.Total(), waiting, len(known))
				}
				if !reflect.DeepEqual(l.values, fresh.values) {
					t.Fatalf("values %v, want %v", l.values, fresh.values)
				}
				if got, want := l.Sections(), fresh.Sections(); !slices.Equal(got, want) {
					t.Fatalf("sections %v, want %v", got, want)
				}
				for i, id := range ids(l) {
					if l.Index(id) != i {
						t.Fatalf("%s: index %d, want %d", id, l.Index(id), i)
					}
				}
				next := 0
				for _, s := range l.Sections() {
					for i := range s.Count {
						at := l.At(s.First + i)
						g := l.GroupOf(at.Session)
						if by == ByNeed && g != s.Group && !at.SubAgent || by != ByNeed &&
							l.rows[at.Session].section(by) != s.Name || s.First != next {
							t.Fatalf("session %d is of the group %s, in the section %+v", s.First+i, g, s)
						}
					}
					next += s.Count
				}
				if next != l.Len() {
					t.Fatalf("by %s: sections of %d sessions, want %d", by, next, l.Len())
				}
			},
		})
	})
}

func TestPutCostIsLogarithmic(t *testing.T) {
	for _, n := range []int{100, 10_000} {
		l := New()
		comparisons := 0
		counted := func(by func(a, b *row) int) func(a, b *row) int {
			return func(a, b *row) int { comparisons++; return by(a, b) }
		}
		l.shown = newOrderedSet(counted(compareNeed))
		l.urgent = newOrderedSet(counted(compareUrgency))
		session := func(i int) protocol.Summary {
			s := protocol.Summary{Session: fmt.Sprint("s", i), Status: protocol.Running, Turn: "t", Updated: at(i)}
			if i%2 == 0 {
				s.Status, s.Asked = protocol.Waiting, asked(i)
			}
			return s
		}
		for i := range n {
			l.Put(session(i))
		}
		const changes = 1000
		comparisons = 0
		for i := range changes {
			s := session(i * 7 % n)
			s.Updated = at(n + i)
			l.Put(s)
		}
		// Two removals and two additions, each at most 3 times the depth of a balanced tree.
		if each, limit := comparisons/changes, 4*3*bits.Len(uint(n)); each > limit {
			t.Errorf("%d sessions: %d comparisons per change, want at most %d", n, each, limit)
		}
	}
}

func TestValuesDifferAmongListedSessions(t *testing.T) {
	l := New()
	check := func(when string, want bool) {
		t.Helper()
		if got := l.Differ(Agent); got != want {
			t.Errorf("%s: agents differ: %v, want %v", when, got, want)
		}
	}
	l.Put(protocol.Summary{Session: "a", Agent: "claude", Status: protocol.Idle})
	l.Put(protocol.Summary{Session: "b", Agent: "claude", Status: protocol.Idle})
	check("two of one agent", false)
	l.Put(protocol.Summary{Session: "b", Agent: "codex", Status: protocol.Idle})
	check("another agent", true)
	l.SetFilter("claude")
	check("only one is shown", false)
	l.SetFilter("")
	check("all are shown again", true)
	l.Put(protocol.Summary{Session: "b", Deleted: true})
	check("one was deleted", false)
}

// One number says how many sessions wait: in the heading of their group, and wherever they are counted.
func TestTheNumberThatWaitsIsThatOfTheGroup(t *testing.T) {
	l := New()
	asked := time.Unix(1, 0)
	l.Put(protocol.Summary{Session: "a", Status: protocol.Waiting, Approvals: 1, Asked: &asked})
	l.Put(protocol.Summary{Session: "b", Status: protocol.Waiting, Approvals: 4, Asked: &asked})
	l.Put(protocol.Summary{Session: "c", Status: protocol.Idle, Queue: 2, Held: true})
	l.Put(protocol.Summary{Session: "d", Status: protocol.Running, Turn: "t"})
	l.Put(protocol.Summary{Session: "e", Status: protocol.Waiting, Asked: &asked, Attributes: protocol.Attributes{
		Parent: "a", SubAgent: true,
	}})
	section := l.Sections()[0]
	if n := l.CountWaiting(""); n != 3 || section.Group != NeedsYou || section.Count-section.SubAgents != n {
		t.Errorf("%d wait, section %+v, want 3 in both", n, section)
	}
	if n := l.CountWaiting("c"); n != 2 {
		t.Errorf("%d others wait, want 2", n)
	}
}

// The labels archived and pinned are the server's, so that every client shows the same.
func TestLabelsArchiveAndPinSessions(t *testing.T) {
	l := New()
	put := func(id string, updated int, status protocol.Status, labels ...string) {
		s := protocol.Summary{Session: id, Status: status, Updated: at(updated)}
		for _, key := range labels {
			s.Labels = protocol.ChangeLabels(s.Labels, map[string]string{key: "true"})
		}
		l.Put(s)
	}
	put("new", 9, protocol.Idle)
	put("pinned", 1, protocol.Idle, protocol.LabelPinned)
	put("archived", 8, protocol.Idle, protocol.LabelArchived)
	put("asks", 7, protocol.Waiting, protocol.LabelArchived)
	check := func(want ...string) {
		t.Helper()
		if got := ids(l); !slices.Equal(got, want) {
			t.Errorf("by %s: %v, want %v", l.Order(), got, want)
		}
	}
	check("asks", "pinned", "new")
	l.SetFilter("label:archived")
	check("asks", "archived")
	l.SetFilter("archived") // a word
	check("asks")
	if found := l.Find("archived", 9); len(found) != 2 {
		t.Errorf("a jump finds %d archived sessions, want 2", len(found))
	}
	l.SetFilter("")
	put("archived", 8, protocol.Idle)
	check("asks", "pinned", "new", "archived")
}
