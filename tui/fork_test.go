package tui

import (
	"testing"

	"agentctl/tui/sessionview"
)

func TestAForkOpensWithItsMessage(t *testing.T) {
	d := newTestPanes(t, 199, 60, "s1", "alt+v s2")
	s2 := d.p.sessions.shown
	d.run(d.p.handle(d.p.sessions.fork(s2, sessionview.ForkedIntent{Session: "k2", Text: "fix the parser"})))
	d.wantOnScreen("k2 s1")
	if got := d.p.sessions.drafts.Load("k2").Text; got != "fix the parser" {
		t.Errorf("the draft is %q", got)
	}
	d.wantText("a fork that ends before this message")
	// Another session has the focus: nothing takes its place.
	d.press("alt+a")
	d.wantOnScreen("s1 k2")
	d.run(d.p.handle(d.p.sessions.fork(s2, sessionview.ForkedIntent{Session: "k3", Text: "again"})))
	d.wantOnScreen("s1 k2")
	if got := d.p.sessions.drafts.Load("k3").Text; got != "again" {
		t.Errorf("the draft is %q", got)
	}
}
