package approval

import (
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// commandToEdit is a request of an agent that takes an edited command.
func commandToEdit(command string) protocol.Approval {
	a := tuitest.CommandApproval()
	a.Title, a.Command, a.Editable = command, command, true
	a.Input = protocol.MustEncode(map[string]any{"command": command, "timeout": 5000})
	return a
}

func TestTheEditedCommandIsShownAndSent(t *testing.T) {
	s := openCommand(t, "go mod tidy")
	s.mustShow("e edit", "command ▏ go mod tidy", "with    ▏ timeout: 5000")
	s.press("e")
	s.mustShow("▸ command:", "> go mod tidy", "enter done · alt+enter new line · esc discard")
	s.press("ctrl+u")
	s.typeText("sudo go mod")
	s.press("alt+enter")
	s.typeText("go vet 1y")
	s.mustShow("command ▏ go mod tidy", "> sudo go mod")
	s.mustNotDecide()
	s.press("enter")
	s.mustShow("edited  ▏ sudo go mod", "        ▏ go vet 1y", "⚠       sudo", "with    ▏ timeout: 5000",
		"▸ [x] with the command as edited")
	s.mustHide("command ▏")
	s.waitGrace()
	s.press("y")
	d := s.mustDecide()
	if d.Option != "once" || d.Input == nil || d.Input.Command != "sudo go mod\ngo vet 1y" || d.Input.Patch != "" {
		t.Errorf("got decision %+v with input %+v", d, d.Input)
	}
}

func TestEscKeepsTheCommandAsItWas(t *testing.T) {
	s := openCommand(t, "go mod tidy")
	s.press("e")
	s.typeText(" -x")
	s.press("esc")
	s.mustShow("command ▏ go mod tidy")
	s.mustHide("edited")
	s.press("e")
	s.typeText(" -x")
	s.press("enter")
	s.waitGrace()
	s.press("e")
	s.mustShow("> go mod tidy -x")
	s.press("ctrl+u", "esc")
	s.mustShow("edited  ▏ go mod tidy -x")
	s.press("e", "ctrl+u", "enter") // nothing to run: the requested one
	s.mustShow("command ▏ go mod tidy")
	s.waitGrace()
	s.press("y")
	if d := s.mustDecide(); d.Input != nil {
		t.Errorf("got input %+v for the command as requested", d.Input)
	}
}

func TestAnEditedCommandIsNotAllowedAlways(t *testing.T) {
	for _, keys := range [][]string{{"a"}, {"2", "enter"}} {
		s := openCommand(t, "go mod tidy")
		s.press("e")
		s.typeText(" -x")
		s.press("enter")
		s.waitGrace()
		s.press(keys...)
		s.waitGrace()
		s.press("y")
		if d := s.mustDecide(); d.Option != "once" {
			t.Errorf("%v: got option %s", keys, d.Option)
		}
	}
}

// TestAnEditedCommandIsNotAllowedUnseen edits a command so that it does not fit the panel.
func TestAnEditedCommandIsNotAllowedUnseen(t *testing.T) {
	s := openCommand(t, "go mod tidy")
	s.press("e")
	s.paste(strings.Repeat("\necho", 40) + "\nlast")
	s.press("enter")
	s.waitGrace()
	s.press("y")
	s.mustNotDecide()
	s.mustShow("not decided: view it to its end first")
	s.press("end")
	s.mustShow("last")
	s.press("home", "pgdown", "pgdown", "pgdown", "esc")
	s.waitGrace()
	s.press("y")
	if d := s.mustDecide(); d.Input == nil || !strings.HasSuffix(d.Input.Command, "echo\nlast") {
		t.Errorf("got input %+v", d.Input)
	}
}

func TestADeniedEditedCommandIsNotSent(t *testing.T) {
	s := openCommand(t, "go mod tidy")
	s.press("e")
	s.typeText(" -x")
	s.press("enter")
	s.waitGrace()
	s.press("n")
	if d := s.mustDecide(); d.Option != "no" || d.Input != nil {
		t.Errorf("got %+v", d)
	}
}

// TestACommandThatTheFieldCannotHoldOpensInTheEditor has commands that a text field would change or
// hide.
func TestACommandThatTheFieldCannotHoldOpensInTheEditor(t *testing.T) {
	for _, command := range []string{"cat <<-A\n\tone\nA", "echo a\u202eb"} {
		s := openCommand(t, command)
		s.edit = func(string) string { return "make all\n" }
		s.press("e")
		s.mustShow("edited  ▏ make all")
		s.waitGrace()
		s.press("y")
		if d := s.mustDecide(); d.Input == nil || d.Input.Command != "make all" {
			t.Errorf("%q: got input %+v", command, d.Input)
		}
	}
}

func TestADecisionMeanwhileEndsTheEdit(t *testing.T) {
	s := openCommand(t, "go mod tidy")
	s.press("e")
	s.typeText(" -x")
	s.journal.Add(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "r1", Outcome: protocol.Denied})
	s.applyJournal()
	s.mustHide("▸ command:")
	s.press("enter")
	s.mustNotDecide()
}

// openCommand opens a session that asks to run a command, with the focus on the request.
func openCommand(t *testing.T, command string) *testPanel {
	t.Helper()
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	j.Add(protocol.ApprovalRequested, commandToEdit(command))
	j.CaughtUp()
	s := open(t, j, 100, 30)
	s.focus()
	return s
}
