//go:build unix

package sessionview

import (
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/drafts"
)

// waitShell waits for the end of the shell command whose output is shown.
func (s *testScreen) waitShell() *shellOutput {
	s.t.Helper()
	o, ok := s.m.overlays.Top().(*shellOutput)
	if !ok {
		s.t.Fatalf("no output of a command:\n%s", s.text())
	}
	if o.running == nil {
		s.t.Fatalf("the command did not start: %s", o.failed)
	}
	<-o.running.Done()
	s.update(shellReadMsg{o})
	return o
}

func TestAShellCommandRunsInTheSessionsDirectoryAndItsOutputIsOffered(t *testing.T) {
	s, dir := openIn(t, map[string]string{"notes.txt": "text"})
	s.typeText("!ls")
	s.mustShow("! ls", "shell on this machine · …", " · enter runs · esc back")
	s.mustHide("> ")
	s.press("enter")
	s.waitShell()
	s.mustShow("! ls · in "+dir[:20], " notes.txt", "exit 0", "enter puts it into the message · esc closes")
	s.press("enter")
	s.mustCompose("```\n$ ls\nnotes.txt\n```\n")
	s.mustSendNothing()
	s.mustShow("> ```")
}

func TestTheOutputOfAShellCommandCannotEndItsBlock(t *testing.T) {
	s, _ := openIn(t, nil)
	s.typeText("!printf '```\\nx'; exit 3")
	s.press("enter")
	s.waitShell()
	s.mustShow("exit 3")
	s.press("enter")
	s.mustCompose("````\n$ printf '```\\nx'; exit 3\n```\nx\n[exit 3]\n````\n")
}

func TestCtrlCStopsAShellCommandAndDoesNotLeave(t *testing.T) {
	s, _ := openIn(t, nil)
	s.typeText("!sleep 1000")
	s.press("enter")
	s.mustShow("running", "ctrl+c stops it")
	s.press("esc") // closes only after the end
	s.mustShow("running")
	s.press("ctrl+c")
	s.mustHide(leaveHint)
	s.waitShell()
	s.mustShow("signal: terminated")
	s.press("esc")
	s.mustHide("signal")
	s.mustCompose("")
}

func TestAShellCommandHasItsOwnHistoryAndNeverBecomesAMessage(t *testing.T) {
	s, _ := openIn(t, nil)
	s.sendMessage("a message")
	s.mustSend(protocol.DoSend)
	s.typeText("!tru")
	s.press("esc")
	s.mustShow("\n>")
	s.mustCompose("")
	s.typeText("!")
	s.press("up")
	s.mustCompose("tru")
	s.mustShow("! tru")
	s.press("ctrl+c")
	s.press("up")
	s.mustCompose("a message")
	s.press("esc")
	s.typeText("!x")
	s.press("backspace", "backspace")
	s.mustShow("\n>")
	s.mustSendNothing()
}

func TestOnlyATypedFirstExclamationMarkStartsAShellCommand(t *testing.T) {
	s, _ := openIn(t, nil)
	s.paste("!touch x")
	s.mustShow("> !touch x")
	s.press("enter")
	if d := s.mustSend(protocol.DoSend).(protocol.SendData); d.Text != "!touch x" {
		t.Errorf("sent %q", d.Text)
	}
	s.typeText("no!")
	s.mustShow("> no!")
	s.press("ctrl+c")
	s.m.Composer.NoShell = true
	s.typeText("!")
	s.mustShow("> !")
}

func TestAMessageThatReturnsEndsTheShellCommand(t *testing.T) {
	s, _ := openIn(t, nil)
	s.refuse(tuitest.ErrRefused)
	s.sendMessage("please")
	s.typeText("!rm")
	s.press("alt+t")
	s.mustCompose("please")
	s.mustShow("> please")
}

func TestAnUnsentShellCommandIsRestoredAsOne(t *testing.T) {
	s, _ := openIn(t, nil)
	var saved []drafts.Draft
	s.saveTo(&saved)
	s.update(DraftMsg{})
	s.typeText("!make")
	s.m.SaveDraft()
	if len(saved) != 1 || saved[0].Text != "make" || !saved[0].Shell {
		t.Fatalf("saved %+v", saved)
	}
	s, _ = openIn(t, nil)
	s.update(DraftMsg(saved[0]))
	s.mustShow("! make")
	if strings.Contains(s.text(), "\n>") {
		t.Errorf("restored as a message:\n%s", s.text())
	}
}
