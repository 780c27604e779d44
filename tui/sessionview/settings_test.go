package sessionview

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestSettingChange(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.press("f3")
	s.mustShow("settings · Gemini CLI 1.4.0", "▸ Mode: Ask", "asks before every change", "Model: Small 3", "effort: 7")
	s.press("enter")
	s.mustShow("▸ (•) Ask", "( ) Edit", "( ) plan")
	s.press("down")
	cmd := s.m.Update(tuitest.KeyPress("enter"))
	s.mustShow("▸ Mode: Ask → Edit …")
	s.run(cmd)
	want := protocol.ConfigureData{Setting: "mode", Value: "edit"}
	if data := s.mustSend(protocol.DoConfigure).(protocol.ConfigureData); data != want {
		t.Errorf("got %+v, want %+v", data, want)
	}
	s.journal.Add(protocol.AgentOptions, protocol.Options{
		Settings: []protocol.Setting{{ID: "mode", Name: "Mode", Value: "edit"}},
	})
	s.applyJournal()
	s.mustShow("▸ Mode: edit")
	s.mustHide("…")
}

func TestSettingRefused(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.refuse(tuitest.ErrRefused)
	s.press("f3", "down", "enter", "down", "enter")
	s.mustSend(protocol.DoConfigure)
	s.mustShow("Model: Small 3", "observers may not do that")
	s.mustHide("→")
}

func TestSettingUnchanged(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.press("f3", "enter", "enter", "end", "enter")
	s.mustSendNothing()
	s.mustShow("no choices for this setting")
	s.press("esc")
	s.mustShow("Now tidy the module.")
}

func TestSettingRemoved(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.press("f3", "enter")
	s.journal.Add(protocol.AgentOptions, protocol.Options{})
	s.applyJournal()
	s.press("enter", "down")
	s.mustShow("no longer has this setting")
	s.press("q")
	s.mustShow("this agent has no settings")
	s.mustSendNothing()
}

func TestCommandListCompletes(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.typeText("/")
	s.mustShow("commands · enter runs", "▸ /mode")
	s.typeText("PL")
	s.mustShow("2 commands", "▸ /plan", "what for — make a plan first")
	s.mustHide("/test")
	s.press("down", "tab")
	s.mustShow("> /play")
	s.mustHide("commands ·")
	s.typeText("now")
	s.press("enter")
	if data := s.mustSend(protocol.DoSend).(protocol.SendData); data.Text != "/play now" {
		t.Errorf("got sent text %q", data.Text)
	}
}

func TestEnterSendsAnAgentCommandWithoutArguments(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.typeText("/te")
	s.press("enter")
	if data := s.mustSend(protocol.DoSend).(protocol.SendData); data.Text != "/test" {
		t.Errorf("got sent text %q", data.Text)
	}
	s.typeText("/pla")
	s.press("enter")
	s.mustSendNothing()
	s.mustShow("> /plan")
	s.typeText("it")
	s.press("enter")
	if data := s.mustSend(protocol.DoSend).(protocol.SendData); data.Text != "/plan it" {
		t.Errorf("got sent text %q", data.Text)
	}
	s.typeText("/usr/bin") // no command
	s.press("enter")
	if data := s.mustSend(protocol.DoSend).(protocol.SendData); data.Text != "/usr/bin" {
		t.Errorf("got sent text %q", data.Text)
	}
}

func TestCompletionEscape(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.typeText("/pl")
	s.press("esc")
	s.mustSendNothing()
	s.mustHide("commands ·")
	s.typeText("a") // a changed word opens the completion again
	s.mustShow("2 commands")
	s.typeText(" b")
	s.mustHide("commands ·")
}

func TestCompletionFirstWordOnly(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.typeText("see /pl")
	s.mustHide("commands ·")
	s.press("tab")
	if s.m.focus == onComposer {
		t.Error("tab does not move the focus")
	}
}

// An agent that advertises commands named like those of agentctl gets them after two slashes only.
func TestWordsOfAgentctlAreNotSent(t *testing.T) {
	j := tuitest.Conversation()
	j.Add(protocol.AgentOptions, protocol.Options{Commands: []protocol.SlashCommand{
		{Name: "approve", About: "approves all"}, {Name: "review"},
	}})
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.typeText("/approve")
	s.mustShow("▸ //approve", "approves all")
	s.press("enter")
	s.mustSendNothing()
	s.mustShow("/approve is a word of agentctl", "> /approve")
	s.press("tab", "enter")
	if data := s.mustSend(protocol.DoSend).(protocol.SendData); data.Text != "/approve" {
		t.Errorf("got sent text %q", data.Text)
	}
}
