package sessionview

import (
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// waitedFor is how long the user takes to decide the request of openWaiting.
const waitedFor = 53 * time.Minute

// openWaiting returns a screen of a turn whose task 1 and tool call c1 wait for a decision.
func openWaiting(t *testing.T) *testScreen {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "Go.")
	j.Add(protocol.PlanUpdated, protocol.PlanTasksData{Tasks: []protocol.Task{{ID: "1", Title: "Build"}}})
	j.Task("1", protocol.TaskStarted, protocol.TaskData{})
	j.Tool("c1", protocol.ToolStartedData{Name: "shell", Title: "make all"}, "")
	a := tuitest.CommandApproval()
	a.Request, a.Tool, a.Task = "r1", "c1", "1"
	j.RequestApproval(a)
	j.CaughtUp()
	s := open(t, j, 100, 40)
	s.now = j.At.Add(waitedFor)
	s.tick()
	return s
}

// decide resolves the request after the wait.
func (s *testScreen) decide() {
	s.journal.At = s.now
	s.journal.Add(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "r1", Outcome: protocol.Allowed})
	s.applyJournal()
	s.now = s.journal.At.Add(4 * time.Second)
	s.tick()
	s.update(struct{}{})
}

// The wait of 53 minutes is never part of a time that reads as work: in the status line, at tasks and
// tool calls that run and have ended, at the plan, at the end of the turn, in the list of turns.
func TestNoTimeShownAsWorkContainsWaiting(t *testing.T) {
	s := openWaiting(t)
	s.mustShow("Build", "waiting for you", "waiting for a decision")
	s.mustHide("53m")
	s.decide()
	s.mustShow("▸ Build", "running 5s", "running shell make all 5s")
	s.mustHide("53m")
	s.journal.Add(protocol.ToolEnded, protocol.ToolEndedData{
		Tool: "c1", Status: protocol.ToolCompleted, DurationMS: (waitedFor + 8*time.Second).Milliseconds(),
	})
	s.journal.Task("1", protocol.TaskCompleted, protocol.TaskData{DurationMS: (waitedFor + time.Minute).Milliseconds()})
	s.applyJournal()
	s.now = s.journal.At.Add(10 * time.Second)
	s.tick()
	s.update(struct{}{})
	s.mustShow("✓ shell make all", "running 17s + 53m01s waiting for you")
	s.journal.Add(protocol.PlanCompleted, protocol.PlanTasksData{Tasks: []protocol.Task{{ID: "1", Title: "Build"}}})
	s.journal.At = s.now
	s.journal.Add(protocol.TurnEnded, protocol.TurnEndedData{
		Reason: protocol.ReasonCompleted, DurationMS: s.now.Sub(tuitest.Start).Milliseconds(),
	})
	s.applyJournal()
	s.mustShow("── completed · 19s + 53m01s waiting for you")
	s.mustHide("54m")
	s.press("f10")
	s.mustShow("completed · 19s + 53m01s waiting for you")
}
