package sessionview

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// editableCommand is a request of an agent that takes an edited command.
func editableCommand(command string) protocol.Approval {
	a := tuitest.CommandApproval()
	a.Title, a.Command, a.Editable = command, command, true
	a.Input = protocol.MustEncode(map[string]any{"command": command, "timeout": 5000})
	return a
}

// openCommand opens the screen of a session that asks to run a command, with the focus on it.
func openCommand(t *testing.T, command string) *testScreen {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	j.Add(protocol.ApprovalRequested, editableCommand(command))
	j.CaughtUp()
	s := open(t, j, 100, 30)
	s.focusApproval()
	return s
}

// mustApprove returns the decision that was sent.
func (s *testScreen) mustApprove() protocol.ApproveData {
	s.t.Helper()
	return s.mustSend(protocol.DoApprove).(protocol.ApproveData)
}

func TestTheEditedCommandIsShownAndSent(t *testing.T) {
	s := openCommand(t, "go mod tidy")
	s.mustShow("p edit", "command ▏ go mod tidy", "with    ▏ timeout: 5000")
	s.press("p")
	s.mustShow("▸ command:", "> go mod tidy", "enter done · alt+enter new line · esc discard")
	s.press("ctrl+u")
	s.typeText("sudo go mod")
	s.press("alt+enter")
	s.typeText("go vet 1y")
	s.mustShow("command ▏ go mod tidy", "> sudo go mod")
	s.mustSendNothing()
	s.press("enter")
	s.mustShow("edited  ▏ sudo go mod", "        ▏ go vet 1y", "⚠       sudo", "with    ▏ timeout: 5000",
		"▸ [x] with the command as edited")
	s.mustHide("command ▏")
	s.waitGrace()
	s.press("y")
	d := s.mustApprove()
	if d.Option != "once" || d.Input == nil || d.Input.Command != "sudo go mod\ngo vet 1y" || d.Input.Patch != "" {
		t.Errorf("got decision %+v with input %+v", d, d.Input)
	}
}

func TestEscKeepsTheCommandAsItWas(t *testing.T) {
	s := openCommand(t, "go mod tidy")
	s.press("p")
	s.typeText(" -x")
	s.press("esc")
	s.mustShow("command ▏ go mod tidy")
	s.mustHide("edited")
	s.press("p")
	s.typeText(" -x")
	s.press("enter")
	s.waitGrace()
	s.press("p")
	s.mustShow("> go mod tidy -x")
	s.press("ctrl+u", "esc")
	s.mustShow("edited  ▏ go mod tidy -x")
	s.press("p", "ctrl+u", "enter") // nothing to run: the requested one
	s.mustShow("command ▏ go mod tidy")
	s.waitGrace()
	s.press("y")
	if d := s.mustApprove(); d.Input != nil {
		t.Errorf("got input %+v for the command as requested", d.Input)
	}
}

func TestAnEditedCommandIsNotAllowedAlways(t *testing.T) {
	for _, keys := range [][]string{{"a"}, {"2", "enter"}} {
		s := openCommand(t, "go mod tidy")
		s.press("p")
		s.typeText(" -x")
		s.press("enter")
		s.waitGrace()
		s.press(keys...)
		s.waitGrace()
		s.press("y")
		if d := s.mustApprove(); d.Option != "once" {
			t.Errorf("%v: got option %s", keys, d.Option)
		}
	}
}

// TestAnEditedCommandIsNotAllowedUnseen edits a command so that it does not fit the panel.
func TestAnEditedCommandIsNotAllowedUnseen(t *testing.T) {
	s := openCommand(t, "go mod tidy")
	s.press("p")
	s.m.Update(tea.PasteMsg{Content: strings.Repeat("\necho", 40) + "\nlast"})
	s.press("enter")
	s.waitGrace()
	s.press("y")
	s.mustSendNothing()
	s.mustShow("not decided: view it to its end first")
	s.press("end")
	s.mustShow("last")
	s.press("home", "pgdown", "pgdown", "q")
	s.waitGrace()
	s.press("y")
	if d := s.mustApprove(); d.Input == nil || !strings.HasSuffix(d.Input.Command, "echo\nlast") {
		t.Errorf("got input %+v", d.Input)
	}
}

func TestADeniedEditedCommandIsNotSent(t *testing.T) {
	s := openCommand(t, "go mod tidy")
	s.press("p")
	s.typeText(" -x")
	s.press("enter")
	s.waitGrace()
	s.press("n")
	if d := s.mustApprove(); d.Option != "no" || d.Input != nil {
		t.Errorf("got %+v", d)
	}
}

// TestACommandThatTheFieldCannotHoldOpensInTheEditor has commands that a text field would change or
// hide.
func TestACommandThatTheFieldCannotHoldOpensInTheEditor(t *testing.T) {
	for _, command := range []string{"cat <<-A\n\tone\nA", "echo a\u202eb"} {
		s := openCommand(t, command)
		dir := s.setEditor(`echo make all > "$1"`)
		s.press("p")
		s.mustLeaveNoFile(dir)
		s.mustShow("edited  ▏ make all")
		s.waitGrace()
		s.press("y")
		if d := s.mustApprove(); d.Input == nil || d.Input.Command != "make all" {
			t.Errorf("%q: got input %+v", command, d.Input)
		}
	}
}

func TestTheTextFieldOfACommandOpensInTheEditor(t *testing.T) {
	s := openCommand(t, "go mod tidy")
	s.setEditor(`sed -i s/tidy/verify/ "$1"`)
	s.press("p")
	s.typeText(" -x")
	s.press("ctrl+g")
	s.mustShow("edited  ▏ go mod verify -x")
}

func TestADecisionMeanwhileEndsTheEdit(t *testing.T) {
	s := openCommand(t, "go mod tidy")
	s.press("p")
	s.typeText(" -x")
	s.journal.Add(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "r1", Outcome: protocol.Denied})
	s.applyJournal()
	s.mustHide("▸ command:")
	s.press("enter")
	s.mustSendNothing()
}
