package sessionview

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

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

// An agent that advertises commands with names of agentctl gets them after two slashes only.
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
