package sessionlist

import (
	"fmt"
	"slices"
	"testing"

	"agentctl/protocol"
)

// sectionsOf returns the sections with their sessions as text.
func sectionsOf(l *List) (out []string) {
	for _, s := range l.Sections() {
		text := s.Name + ":"
		for i := s.First; i < s.First+s.Count; i++ {
			text += " " + l.At(i).Session
		}
		out = append(out, text)
	}
	return out
}

func TestSessionsAreGroupedByProjectLabelAndServer(t *testing.T) {
	l := New()
	l.ServerOf = func(session string) string { return map[bool]string{true: "box", false: "local"}[session > "c"] }
	asked := at(1)
	for _, s := range []protocol.Summary{
		{Session: "a", CWD: "/store/pkg", Project: "/store", Status: protocol.Idle, Updated: at(9)},
		{Session: "b", CWD: "/store", Status: protocol.Waiting, Approvals: 1, Asked: &asked},
		{Session: "c", CWD: "/api", Status: protocol.Running, Turn: "t"},
		{Session: "d", Status: protocol.Idle},
		{Session: "e", CWD: "/elsewhere", Status: protocol.Running, Turn: "t", Attributes: protocol.Attributes{Parent: "a"}},
	} {
		if s.Session == "a" || s.Session == "c" {
			s.Labels = map[string]string{protocol.LabelPinned: "true", "team": s.Session}
		}
		l.Put(s)
	}
	for by, want := range map[Order][]string{
		ByProject: {"/api: c", "/store: b a e", ": d"},
		ByLabel:   {"team=a: a e", "team=c: c", ": b d"},
		ByServer:  {"box: d", "local: b c a e"},
	} {
		l.SetOrder(by)
		if got := sectionsOf(l); !slices.Equal(got, want) {
			t.Errorf("by %s: %q, want %q", by, got, want)
		}
	}
	l.SetOrder(ByProject)
	l.Put(protocol.Summary{Session: "c", CWD: "/store", Status: protocol.Running, Turn: "t"})
	if got, want := sectionsOf(l), []string{"/store: b c a e", ": d"}; !slices.Equal(got, want) {
		t.Errorf("after a move: %q, want %q", got, want)
	}
}

func TestOrdersOfOneSectionAreLeftOut(t *testing.T) {
	l := New()
	l.Put(protocol.Summary{Session: "a", Status: protocol.Idle})
	var got []Order
	for range 3 {
		l.SetOrder(l.NextOrder())
		got = append(got, l.Order())
	}
	if want := []Order{ByProject, ByNeed, ByProject}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
