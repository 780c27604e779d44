package settings

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/sessionview/panel"
)

// openSettings returns a rig in which a key opens the menu.
func openSettings(t *testing.T, j *tuitest.Journal) *paneltest.Rig {
	t.Helper()
	r := paneltest.New(t, j)
	r.Key = func(string) tea.Cmd {
		r.Overlays.Push(New(panel.Base{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Now: r.Now}).Menu())
		return nil
	}
	r.ApplyJournal()
	return r
}

func TestSettingChange(t *testing.T) {
	s := openSettings(t, tuitest.Scenes["settings"]())
	s.Press("f3")
	s.MustShow("settings · Gemini CLI 1.4.0", "▸ Mode: Ask", "asks before every change", "Model: Small 3", "effort: 7")
	s.Press("enter")
	s.MustShow("▸ (•) Ask", "( ) Edit", "( ) plan")
	s.Press("down")
	cmd := s.Start("enter")
	s.MustShow("▸ Mode: Ask → Edit …")
	s.Run(cmd)
	want := protocol.ConfigureData{Setting: "mode", Value: "edit"}
	if data := s.MustSend(protocol.DoConfigure).(protocol.ConfigureData); data != want {
		t.Errorf("got %+v, want %+v", data, want)
	}
	s.Journal.Add(protocol.AgentOptions, protocol.Options{
		Settings: []protocol.Setting{{ID: "mode", Name: "Mode", Value: "edit"}},
	})
	s.ApplyJournal()
	s.MustShow("▸ Mode: edit")
	s.MustHide("…")
}

func TestSettingRefused(t *testing.T) {
	s := openSettings(t, tuitest.Scenes["settings"]())
	s.Refuse(tuitest.ErrRefused)
	s.Press("f3", "down", "enter", "down", "enter")
	s.MustSend(protocol.DoConfigure)
	s.MustShow("Model: Small 3", "observers may not do that")
	s.MustHide("→")
}

func TestSettingUnchanged(t *testing.T) {
	s := openSettings(t, tuitest.Scenes["settings"]())
	s.Press("f3", "enter", "enter", "end", "enter")
	s.MustSendNothing()
	s.MustShow("no choices for this setting")
	s.Press("esc")
	if s.Overlays.Top() != nil {
		t.Error("the menu is still open")
	}
}

func TestSettingRemoved(t *testing.T) {
	s := openSettings(t, tuitest.Scenes["settings"]())
	s.Press("f3", "enter")
	s.Journal.Add(protocol.AgentOptions, protocol.Options{})
	s.ApplyJournal()
	s.Press("enter", "down")
	s.MustShow("no longer has this setting")
	s.Press("q")
	s.MustShow("this agent has no settings")
	s.MustSendNothing()
}
