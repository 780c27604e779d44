package sessionview

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestRuleRevoke(t *testing.T) {
	s := open(t, tuitest.Scenes["rules"](), 80, 24)
	s.press("f4")
	s.mustShow("3 rules", "▸ $ go mod tidy", "exactly this command in", "by ada · 2026-03-04 09:41")
	s.press("down", "delete", "enter")
	s.mustSendNothing()
	s.press("delete", "right", "enter")
	if data := s.mustSend(protocol.DoRulesRevoke).(protocol.RulesRevokeData); data.Rule != "u2" {
		t.Errorf("got revocation %+v", data)
	}
	s.journal.AddBy(tuitest.Ada, protocol.SessionUpdated, protocol.SessionUpdatedData{Revoked: "u2"})
	s.applyJournal()
	s.mustShow("2 rules")
	s.mustHide("fetch")
	s.mustShow("▸ /home/ada/store/store.go, /home/ada/store/store_test.go")
	s.press("q")
	s.mustShow("Now tidy the module.")
}

func TestRuleRevokeOnce(t *testing.T) {
	s := open(t, tuitest.Scenes["rules"](), 80, 24)
	s.press("f4")
	s.press("delete", "right")
	cmd := s.m.Update(tuitest.KeyPress("enter"))
	s.mustShow("revoking …")
	s.press("delete")
	s.mustHide("revoke the rule")
	s.mustSendNothing()
	s.refuse(tuitest.ErrRefused)
	s.run(cmd)
	s.mustSend(protocol.DoRulesRevoke)
	s.mustShow("observers may not do that")
	s.mustHide("revoking …")
}

func TestRulesEmpty(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.press("f4", "down", "delete", "end")
	s.mustSendNothing()
	s.mustShow("no rules: no request is always allowed")
}

func TestMenuKeepsComposerText(t *testing.T) {
	s := open(t, tuitest.Scenes["rules"](), 80, 24)
	s.typeText("draft")
	s.press("f4", "z", "esc")
	s.mustShow("> draft")
}
