package input

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestWordsThatLeaveOtherProgramsAreExplained(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 100)
	for typed, want := range map[string]string{
		":q": "ctrl+c twice leaves · enter again sends :q", "exit": "ctrl+c twice leaves",
	} {
		s.typeText(typed)
		s.keys("enter")
		s.MustSendNothing()
		s.MustShow(want, "> "+typed)
		s.keys("enter")
		if data := s.MustSend(protocol.DoSend).(protocol.SendData); data.Text != typed {
			t.Errorf("got sent text %q, want %q", data.Text, typed)
		}
	}
}

func TestCommandListCompletes(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80)
	s.typeText("/")
	s.MustShow("commands · enter run", "▸ /mode")
	s.typeText("PL")
	s.MustShow("2 commands", "▸ /plan", "what for — make a plan first")
	s.MustHide("/test")
	s.keys("down", "tab")
	s.MustShow("> /play")
	s.MustHide("commands ·")
	s.typeText("now")
	s.keys("enter")
	if data := s.MustSend(protocol.DoSend).(protocol.SendData); data.Text != "/play now" {
		t.Errorf("got sent text %q", data.Text)
	}
}

func TestEnterSendsAnAgentCommandWithoutArguments(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80)
	s.typeText("/te")
	s.keys("enter")
	if data := s.MustSend(protocol.DoSend).(protocol.SendData); data.Text != "/test" {
		t.Errorf("got sent text %q", data.Text)
	}
	s.typeText("/pla")
	s.keys("enter")
	s.MustSendNothing()
	s.MustShow("> /plan")
	s.typeText("it")
	s.keys("enter")
	if data := s.MustSend(protocol.DoSend).(protocol.SendData); data.Text != "/plan it" {
		t.Errorf("got sent text %q", data.Text)
	}
	s.typeText("/usr/bin") // no command
	s.keys("enter")
	if data := s.MustSend(protocol.DoSend).(protocol.SendData); data.Text != "/usr/bin" {
		t.Errorf("got sent text %q", data.Text)
	}
}

// An agent that advertises commands with names of agentctl gets them after two slashes only.
func TestWordsOfAgentctlAreNotSent(t *testing.T) {
	j := tuitest.Conversation()
	j.Add(protocol.AgentOptions, protocol.Options{Commands: []protocol.SlashCommand{
		{Name: "approve", About: "approves all"}, {Name: "review"},
	}})
	j.CaughtUp()
	s := open(t, j, 80)
	s.typeText("/approve")
	s.MustShow("▸ //approve", "approves all")
	s.keys("enter")
	s.MustSendNothing()
	s.MustShow("/approve is a word of agentctl", "> /approve")
	s.keys("tab", "enter")
	if data := s.MustSend(protocol.DoSend).(protocol.SendData); data.Text != "/approve" {
		t.Errorf("got sent text %q", data.Text)
	}
}

func TestOnlyANewMessageIsCompleted(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80)
	s.typeText("!/")
	s.MustHide("commands ·")
	s.keys("esc")
	s.typeText("/")
	s.MustShow("commands ·")
	s.in.SetFocus(false)
	s.MustHide("commands ·")
}
