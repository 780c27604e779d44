package approval

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// An event removes a request before the answer to a decision says which decision was first. What the
// user wrote waits for that answer.
func TestATextThatWasSentIsKeptUntilTheAnswer(t *testing.T) {
	question := protocol.Approval{
		Request: "r1", Kind: protocol.ApproveQuestion, Questions: []protocol.Question{{ID: "q", Text: "Why?"}},
	}
	plan := protocol.Approval{
		Request: "r1", Kind: protocol.ApprovePlan, Tasks: []protocol.Task{{ID: "t1", Title: "Test"}}, Editable: true,
	}
	command := tuitest.CommandApproval()
	command.Request, command.Editable = "r1", true
	for name, c := range map[string]struct {
		request protocol.Approval
		send    func(*testPanel)
		want    string
	}{
		"reason": {command, func(s *testPanel) {
			s.press("r")
			s.typeText("not yet")
			s.press("enter", "n")
		}, "not yet"},
		"answer": {question, func(s *testPanel) {
			s.press("enter")
			s.typeText("because")
			s.press("enter", "y")
		}, "because"},
		"task": {plan, func(s *testPanel) {
			s.press("e")
			s.typeText(" it")
			s.press("enter", "y")
		}, "Test it"},
		"command": {command, func(s *testPanel) {
			s.press("e")
			s.typeText(" -v")
			s.press("enter")
			s.waitGrace()
			s.press("y")
		}, command.Command + " -v"},
	} {
		for refusal, want := range map[string]string{"": "", "decided by bob": c.want} {
			s := openApproval(t, c.request)
			s.focus()
			s.noAnswer = true
			c.send(s)
			s.mustDecide()
			if s.panel.Written() {
				t.Errorf("%s: the text counts as not sent while it is sent", name)
			}
			s.state.Approvals = nil
			s.update()
			if got := s.panel.TakeUnsent(); got != (Unsent{}) {
				t.Errorf("%s: got %+v before the answer, want nothing", name, got)
			}
			s.panel.Decided("r1", refusal)
			if got := s.panel.TakeUnsent(); got != (Unsent{Text: want}) {
				t.Errorf("%s, answer %q: got %+v, want the text %q", name, refusal, got, want)
			}
			s.panel.Decided("r1", "again")
			if got := s.panel.TakeUnsent(); got != (Unsent{}) {
				t.Errorf("%s: got %+v for a second time", name, got)
			}
		}
	}
}
