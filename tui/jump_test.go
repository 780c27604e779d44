package tui

import (
	"testing"

	"agentctl/internal/dev/tuitest"
)

func TestJumpFromASession(t *testing.T) {
	d := newTestDashboard(t, 90, 24, tuitest.Summaries()...)
	d.press("enter")
	if d.p.sessions.shown.id != "s3" {
		t.Fatalf("shown: %s", d.p.sessions.shown.id)
	}
	d.press("alt+g")
	d.wantText("jump to a session")
	d.press("esc")
	if o := d.p.sessions.shown; o == nil || o.id != "s3" {
		t.Error("esc does not return to the session")
	}
	d.press("alt+g")
	d.typeText("docs")
	d.press("enter")
	if o := d.p.sessions.shown; o == nil || o.id != "s1" {
		t.Error("enter does not open the session")
	}
	d.press("f2")
	d.wantNoText("jump to a session")
}
