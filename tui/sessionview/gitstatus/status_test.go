package gitstatus

import (
	"slices"
	"testing"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/sessionview/panel"
)

func TestTheStatusIsRequestedWhileShownAndAfterTurns(t *testing.T) {
	j := tuitest.NewJournal()
	j.CaughtUp()
	r := paneltest.New(t, j)
	shown := false
	s := New(panel.Base{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Now: r.Now}, func() bool { return shown })
	files := []protocol.DirectoryFile{{Path: "a", Status: "M"}}
	requests := 0
	r.Session.Reply = func(c tuitest.Command) (any, error) {
		if c.Verb != protocol.DoChanges {
			t.Errorf("sent %s", c.Verb)
		}
		requests++
		return protocol.ChangesResult{Repository: true, Files: files}, nil
	}
	r.Apply = s.Apply
	updated := func() {
		t.Helper()
		r.ApplyJournal()
		r.Run(s.Updated())
	}
	updated()
	if requests > 0 {
		t.Error("requested without being shown")
	}
	shown = true
	cmd, _ := s.Update(nil) // such as a page of older turns
	r.Run(cmd)
	updated()
	if requests != 1 || !slices.Equal(s.Files(), files) {
		t.Errorf("got %v after %d requests", s.Files(), requests)
	}
	r.Journal.UserMessage(tuitest.Ada, "m1", "go")
	r.Journal.EndTurn(protocol.ReasonCompleted)
	files = nil
	updated()
	if requests != 2 || len(s.Files()) > 0 {
		t.Errorf("after a turn: got %v after %d requests", s.Files(), requests)
	}
	r.Session.Reply = func(tuitest.Command) (any, error) { return nil, tuitest.ErrRefused }
	r.Run(s.Request())
	if r.Commands.Status.Text != "" {
		t.Errorf("a refusal shows %q", r.Commands.Status.Text)
	}
}
