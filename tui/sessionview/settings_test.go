package sessionview

import (
	"testing"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
)

func TestASettingIsChanged(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.press("f3")
	s.shows("settings · Gemini CLI 1.4.0", "▸ Mode: Ask", "asks before every change", "Model: Small 3", "effort: 7")
	s.press("enter")
	s.shows("▸ (•) Ask", "( ) Edit", "( ) plan")
	s.press("down")
	cmd := s.m.Update(tuitest.KeyPress("enter"))
	s.shows("▸ Mode: Ask → Edit …")
	s.run(cmd)
	if data := s.asked(protocol.DoConfigure).(protocol.ConfigureData); data != (protocol.ConfigureData{Setting: "mode", Value: "edit"}) {
		t.Errorf("configured %+v", data)
	}
	s.journal.Add(protocol.AgentOptions, protocol.Options{Settings: []protocol.Setting{{ID: "mode", Name: "Mode", Value: "edit"}}})
	s.tell()
	s.shows("▸ Mode: edit")
	s.hides("…")
}

func TestARefusedSettingSaysWhy(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.refuse(tuitest.ErrRefused)
	s.press("f3", "down", "enter", "down", "enter")
	s.asked(protocol.DoConfigure)
	s.shows("Model: Small 3", "observers may not do that")
	s.hides("→")
}

func TestNothingIsSetToWhatItIs(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.press("f3", "enter", "enter", "end", "enter")
	s.askedNothing()
	s.shows("no choices for this setting")
	s.press("esc")
	s.shows("Now tidy the module.")
}

func TestASettingThatGoesAwayLeavesItsMenu(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.press("f3", "enter")
	s.journal.Add(protocol.AgentOptions, protocol.Options{})
	s.tell()
	s.press("enter", "down")
	s.shows("no longer has this setting")
	s.press("q")
	s.shows("this agent has no settings")
	s.askedNothing()
}

func TestTheAgentsCommandsAreCompleted(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.write("/")
	s.shows("4 commands", "▸ /plan what for — make a plan first", "/test — run the tests")
	s.write("PL")
	s.shows("2 commands", "▸ /plan")
	s.hides("/test")
	s.press("down", "tab")
	s.shows("> /play")
	s.hides("commands")
	s.write("now")
	s.press("enter")
	if data := s.asked(protocol.DoSend).(protocol.SendData); data.Text != "/play now" {
		t.Errorf("sent %q", data.Text)
	}
}

func TestEnterSendsACommandAsItIsWritten(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.write("/pl")
	s.press("enter")
	if data := s.asked(protocol.DoSend).(protocol.SendData); data.Text != "/pl" {
		t.Errorf("sent %q", data.Text)
	}
}

func TestClosingTheCompletionInterruptsNothing(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.write("/pl")
	s.press("esc")
	s.askedNothing()
	s.hides("commands")
	s.write("a") // another word, another offer
	s.shows("2 commands")
	s.write(" b")
	s.hides("commands")
}

func TestOnlyTheFirstWordOfAMessageIsACommand(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.write("see /pl")
	s.hides("commands")
	s.press("tab")
	if s.m.focus == onComposer {
		t.Error("tab does not move the focus on")
	}
}
