//go:build unix

package input

import (
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/drafts"
	"agentctl/tui/sessionview/shellview"
)

// waitShell waits for the end of the shell command whose output is shown.
func (s *rig) waitShell() {
	s.t.Helper()
	page, ok := s.Overlays.Top().(*shellview.Page)
	if !ok || page.Done() == nil {
		s.t.Fatalf("no output of a command:\n%s", s.Text())
	}
	<-page.Done()
	s.fireTimers()
}

func TestAShellCommandRunsInTheSessionsDirectoryAndItsOutputIsOffered(t *testing.T) {
	s, dir := openIn(t, map[string]string{"notes.txt": "text"})
	s.typeText("!ls")
	s.MustShow("! ls", "shell on this machine · …", " · enter runs · esc back")
	s.MustHide("> ")
	s.keys("enter")
	s.waitShell()
	s.MustShow("! ls · in "+dir[:20], " notes.txt", "exit 0", "enter add to message · esc back")
	s.keys("enter")
	s.mustCompose("```\n$ ls\nnotes.txt\n```\n")
	s.MustSendNothing()
	s.MustShow("> ```")
}

func TestCtrlCStopsAShellCommandAndDoesNotLeave(t *testing.T) {
	s, _ := openIn(t, nil)
	s.typeText("!sleep 1000")
	s.keys("enter")
	s.MustShow("running", "ctrl+c stop")
	s.keys("esc") // closes only after the end
	s.MustShow("running")
	s.keys("ctrl+c")
	s.mustNotLeave()
	s.waitShell()
	s.MustShow("signal: terminated")
	s.keys("esc")
	s.MustHide("signal")
	s.mustCompose("")
}

func TestAShellCommandHasItsOwnHistoryAndNeverBecomesAMessage(t *testing.T) {
	s, _ := openIn(t, nil)
	s.send("a message")
	s.MustSend(protocol.DoSend)
	s.typeText("!tru")
	s.keys("esc")
	s.MustShow("\n >")
	s.mustCompose("")
	s.typeText("!")
	s.keys("up")
	s.mustCompose("tru")
	s.MustShow("! tru")
	s.keys("ctrl+c")
	s.keys("up")
	s.mustCompose("a message")
	s.keys("esc")
	s.typeText("!x")
	s.keys("backspace", "backspace")
	s.MustShow("\n >")
	s.MustSendNothing()
}

func TestOnlyATypedFirstExclamationMarkStartsAShellCommand(t *testing.T) {
	s, _ := openIn(t, nil)
	s.paste("!touch x")
	s.MustShow("> !touch x")
	s.keys("enter")
	if d := s.MustSend(protocol.DoSend).(protocol.SendData); d.Text != "!touch x" {
		t.Errorf("sent %q", d.Text)
	}
	s.typeText("no!")
	s.MustShow("> no!")
	s.keys("ctrl+c")
	s.in.NoShell = true
	s.typeText("!")
	s.MustShow("> !")
}

func TestAMessageThatReturnsEndsTheShellCommand(t *testing.T) {
	s, _ := openIn(t, nil)
	s.Refuse(tuitest.ErrRefused)
	s.send("please")
	s.typeText("!rm")
	s.keys("alt+t")
	s.mustCompose("please")
	s.MustShow("> please")
}

func TestAnUnsentShellCommandIsRestoredAsOne(t *testing.T) {
	s, _ := openIn(t, nil)
	var saved []drafts.Draft
	s.saveTo(&saved)
	s.update(DraftMsg{})
	s.typeText("!make")
	s.in.SaveDraft()
	if len(saved) != 1 || saved[0].Text != "make" || !saved[0].Shell {
		t.Fatalf("saved %+v", saved)
	}
	s, _ = openIn(t, nil)
	s.update(DraftMsg(saved[0]))
	s.MustShow("! make")
	if strings.Contains(s.Text(), "\n>") {
		t.Errorf("restored as a message:\n%s", s.Text())
	}
}
