package sessionview

import (
	"testing"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
)

func TestARuleIsRevoked(t *testing.T) {
	s := open(t, tuitest.Scenes["rules"](), 80, 24)
	s.press("f4")
	s.shows("3 rules", "▸ $ go mod tidy", "exactly this command in", "by ada · 2026-03-04 09:41")
	s.press("down", "x")
	if data := s.asked(protocol.DoRulesRevoke).(protocol.RulesRevokeData); data.Rule != "u2" {
		t.Errorf("revoked %+v", data)
	}
	s.journal.AddBy(tuitest.Ada, protocol.SessionUpdated, protocol.SessionUpdatedData{Revoked: "u2"})
	s.tell()
	s.shows("2 rules")
	s.hides("fetch")
	s.shows("▸ /home/ada/store/store.go, /home/ada/store/store_test.go")
	s.press("q")
	s.shows("Now tidy the module.")
}

func TestARevocationUnderWayIsNotRepeated(t *testing.T) {
	s := open(t, tuitest.Scenes["rules"](), 80, 24)
	s.press("f4")
	cmd := s.m.Update(tuitest.KeyPress("x"))
	s.shows("revoking …")
	s.press("x")
	s.askedNothing()
	s.refuse(tuitest.ErrRefused)
	s.run(cmd)
	s.asked(protocol.DoRulesRevoke)
	s.shows("observers may not do that")
	s.hides("revoking …")
}

func TestAMenuOfNothingSaysSo(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.press("f4", "down", "x", "end")
	s.askedNothing()
	s.shows("no rules: the agent asks every time")
}

func TestTheComposerKeepsItsTextUnderAMenu(t *testing.T) {
	s := open(t, tuitest.Scenes["rules"](), 80, 24)
	s.write("draft")
	s.press("f4", "z", "esc")
	s.shows("> draft")
}
