package sessionview

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestTheTextFieldOfACommandOpensInTheEditor(t *testing.T) {
	a := tuitest.CommandApproval()
	a.Editable = true
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	j.Add(protocol.ApprovalRequested, a)
	j.CaughtUp()
	s := open(t, j, 100, 30)
	s.focusApproval()
	s.setEditor(`sed -i s/tidy/verify/ "$1"`)
	s.press("e")
	s.typeText(" -x")
	s.press("ctrl+g")
	s.mustShow("edited  ▏ go mod verify -x")
}
