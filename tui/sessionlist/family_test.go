package sessionlist

import (
	"fmt"
	"slices"
	"testing"

	"agentctl/protocol"
)

// child returns an idle session with a parent.
func child(id, parent string, updated int) protocol.Summary {
	return protocol.Summary{
		Session: id, Name: id, Status: protocol.Idle, Updated: at(updated),
		Attributes: protocol.Attributes{Parent: parent},
	}
}

func TestChildrenAreBelowTheirParent(t *testing.T) {
	l := New()
	for _, s := range []protocol.Summary{ // children may come first
		child("c1", "p", 5), child("g", "c1", 9), child("p", "", 1), child("c2", "p", 7), child("other", "", 3),
	} {
		l.Put(s)
	}
	check := func(step string, want ...string) {
		t.Helper()
		if got := ids(l); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", step, got, want)
		}
	}
	check("by need", "other", "p", "g", "c2", "c1")
	if p, c1 := children(l, "p"), children(l, "c1"); p != 2 || c1 != 1 || l.Family("p").Nested || !l.Family("g").Nested {
		t.Errorf("%d and %d children, nested: p %v, g %v", p, c1, l.Family("p").Nested, l.Family("g").Nested)
	}
	waiting := child("c2", "p", 8)
	waiting.Status, waiting.Turn, waiting.Asked = protocol.Waiting, "t", asked(8)
	l.Put(waiting)
	check("a child that waits is in its own group", "c2", "other", "p", "g", "c1")
	l.ToggleCollapsed("p")
	check("collapsed", "c2", "other", "p")
	if l.Index("g") != -1 || l.Len() != 3 || l.Total() != 5 {
		t.Errorf("a hidden session has the index %d; %d of %d are listed", l.Index("g"), l.Len(), l.Total())
	}
	l.Put(child("c2", "p", 7))
	l.MarkSeen("c2")
	check("the child waits no longer", "other", "p")
	l.ToggleCollapsed("p")
	l.SetFilter("c1")
	check("a child without its parent", "c1")
	if l.Family("c1").Nested {
		t.Error("it is nested")
	}
	l.SetFilter("")
	l.Put(child("p", "", 6))
	check("the parent moves with its children", "p", "g", "c2", "c1", "other")
	l.Put(protocol.Summary{Session: "p", Deleted: true})
	check("without the parent", "c2", "c1", "g", "other")
	l.SetOrder(ByProject)
	check("by project", "c2", "c1", "g", "other")
}

// A sub-agent is listed below its parent in every state and order. It needs the user only as its parent.
func TestSubAgentsAreBelowTheirParent(t *testing.T) {
	l := New()
	sub := func(id, parent string, change func(*protocol.Summary)) {
		s := child(id, parent, 9)
		s.SubAgent = true
		if change != nil {
			change(&s)
		}
		l.Put(s)
	}
	waits := func(s *protocol.Summary) { s.Status, s.Turn, s.Asked = protocol.Waiting, "t", asked(8) }
	check := func(step string, urgent int, sections []Section, want ...string) {
		t.Helper()
		if got := ids(l); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", step, got, want)
		}
		if got := l.Sections(); !slices.Equal(got, sections) {
			t.Errorf("%s: sections %v, want %v", step, got, sections)
		}
		if got := l.CountWaiting(""); got != urgent {
			t.Errorf("%s: %d wait", step, got)
		}
	}
	l.Put(child("p", "", 1))
	l.Put(child("other", "", 3))
	sub("deep", "failed", waits)
	sub("failed", "p", func(s *protocol.Summary) { s.Reason = protocol.ReasonError })
	check("idle", 0, []Section{{Group: Idle, First: 0, Count: 4, SubAgents: 2}}, "other", "p", "deep", "failed")
	sub("failed", "p", func(s *protocol.Summary) { s.Turns = 1 })
	if l.GroupOf("failed") != Idle || needOf(l, "deep") != 0 {
		t.Errorf("a finished sub-agent is %v", l.GroupOf("failed"))
	}
	parent := child("p", "", 1)
	waits(&parent)
	l.Put(parent)
	check("the parent waits", 1, []Section{{Group: NeedsYou, First: 0, Count: 3, SubAgents: 2}, {Group: Idle, First: 3, Count: 1, SubAgents: 0}}, "p", "deep", "failed", "other")
	l.SetFilter("deep")
	check("a sub-agent alone", 1, []Section{{Group: Running, First: 0, Count: 1, SubAgents: 1}}, "deep")
	l.SetFilter("status:waiting")
	check("by its own status", 1, []Section{{Group: NeedsYou, First: 0, Count: 1, SubAgents: 0}, {Group: Running, First: 1, Count: 1, SubAgents: 1}}, "p", "deep")
	l.SetFilter("")
	l.ToggleCollapsed("p")
	check("collapsed", 1, []Section{{Group: NeedsYou, First: 0, Count: 1, SubAgents: 0}, {Group: Idle, First: 1, Count: 1, SubAgents: 0}}, "p", "other")
	l.ToggleCollapsed("p")
	l.SetOrder(ByProject)
	l.Put(protocol.Summary{Session: "p", Deleted: true})
	l.SetOrder(ByNeed)
	check("without the parent", 0, []Section{{Group: Idle, First: 0, Count: 3, SubAgents: 2}}, "failed", "deep", "other")
}

// An update of a session with many sub-agents moves their rows together.
func TestAnUpdateOfAParentCostsNoComparisonPerSubAgent(t *testing.T) {
	l := New()
	l.Put(child("p", "", 1))
	for i := range 1000 {
		l.Put(child(fmt.Sprint("other", i), "", i))
		s := child(fmt.Sprint("s", i), "p", i)
		s.SubAgent = true
		l.Put(s)
	}
	comparisons := 0
	compare := l.shown.compare
	l.shown.compare = func(a, b *row) int { comparisons++; return compare(a, b) }
	l.Put(child("p", "", 2000))
	if got := ids(l); got[0] != "p" || got[1] != "s999" || got[1000] != "s0" || got[1001] != "other999" {
		t.Errorf("the order is %v …", got[:3])
	}
	if comparisons > 100 {
		t.Errorf("%d comparisons", comparisons)
	}
}

func children(l *List, session string) int {
	return l.Family(session).Children
}

// A row says what the sessions below it wait for, also if they are hidden.
func TestChildrenThatWaitAreCounted(t *testing.T) {
	l := New()
	for id, parent := range map[string]string{"p": "", "a": "p", "b": "p", "c": "a"} {
		s := protocol.Summary{Session: id, Status: protocol.Idle, Attributes: protocol.Attributes{Parent: parent}}
		if id == "c" || id == "b" {
			s.Status, s.Approvals = protocol.Waiting, 1
		}
		l.Put(s)
	}
	l.ToggleCollapsed("p")
	if f := l.Family("p"); f.Children != 2 || f.Waiting != 2 {
		t.Errorf("%d children, %d below wait, want 2 and 2", f.Children, f.Waiting)
	}
}
