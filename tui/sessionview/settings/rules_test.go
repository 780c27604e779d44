package settings

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/sessionview/panel"
)

// openRules returns a rig in which a key opens the menu.
func openRules(t *testing.T, j *tuitest.Journal) *paneltest.Rig {
	t.Helper()
	r := paneltest.New(t, j)
	r.Key = func(string) tea.Cmd {
		r.Overlays.Push(NewRules(panel.Base{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Now: r.Now}))
		return nil
	}
	r.ApplyJournal()
	return r
}

func TestRuleRevoke(t *testing.T) {
	s := openRules(t, tuitest.Scenes["rules"]())
	s.Press("f4")
	s.MustShow("3 rules", "▸ $ go mod tidy", "exactly this command in", "by ada · 2026-03-04 09:41")
	s.Press("down", "delete", "enter")
	s.MustSendNothing()
	s.Press("delete", "right", "enter")
	if data := s.MustSend(protocol.DoRulesRevoke).(protocol.RulesRevokeData); data.Rule != "u2" {
		t.Errorf("got revocation %+v", data)
	}
	s.Journal.AddBy(tuitest.Ada, protocol.SessionUpdated, protocol.SessionUpdatedData{Revoked: "u2"})
	s.ApplyJournal()
	s.MustShow("2 rules")
	s.MustHide("fetch")
	s.MustShow("▸ /home/ada/store/store.go, /home/ada/store/store_test.go")
	s.Press("q")
	if s.Overlays.Top() != nil {
		t.Error("the menu is still open")
	}
}

func TestRuleRevokeOnce(t *testing.T) {
	s := openRules(t, tuitest.Scenes["rules"]())
	s.Press("f4")
	s.Press("delete", "right")
	cmd := s.Start("enter")
	s.MustShow("revoking …")
	s.Press("delete")
	s.MustHide("revoke the rule")
	s.MustSendNothing()
	s.Refuse(tuitest.ErrRefused)
	s.Run(cmd)
	s.MustSend(protocol.DoRulesRevoke)
	s.MustShow("observers may not do that")
	s.MustHide("revoking …")
}

func TestRulesEmpty(t *testing.T) {
	s := openRules(t, tuitest.Scenes["transcript"]())
	s.Press("f4", "down", "delete", "end")
	s.MustSendNothing()
	s.MustShow("no rules: no request is always allowed")
}
