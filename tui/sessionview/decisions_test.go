package sessionview

import (
	"encoding/json"
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/remote"
)

func TestApprovalEscape(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.waitGrace()
	s.press("tab")
	if s.m.focus != onApproval {
		t.Fatal("the approval has no focus")
	}
	s.press("esc")
	if s.m.focus != onComposer {
		t.Error("the approval keeps the focus")
	}
	s.mustSendNothing()
}

func TestTextOfTheComposerDecidesNothing(t *testing.T) {
	for _, text := range []string{"2 things to change first", "1", "y", "n", "yes", "a y", "?"} {
		s := open(t, tuitest.Scenes["approval"](), 80, 24)
		s.waitGrace()
		s.typeText(text)
		s.mustSendNothing()
		if got := s.m.input.Composer().Value(); got != text || s.m.focus != onComposer {
			t.Errorf("%q: got composer text %q and focus %d, want the text", text, got, s.m.focus)
		}
	}
}

func TestApprovalLeavesComposerKeys(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.typeText("version ")
	s.journal.RequestApproval(tuitest.CommandApproval())
	s.applyJournal()
	s.waitGrace()
	s.typeText("2")
	s.mustSendNothing()
	s.mustShow("> version 2", "Tidy the module")
}

func TestAChordFocusesTheApprovalAndDecidesNothing(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.typeText("half a message")
	s.waitGrace()
	s.press("alt+3")
	s.mustSendNothing()
	s.mustShow("▸ 3 Deny", "> half a message")
	s.press("enter")
	s.mustSendNothing()
	s.waitGrace()
	s.press("enter")
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Option != "no" {
		t.Errorf("got decision %+v", data)
	}
	s = open(t, tuitest.Scenes["approval"](), 80, 24)
	s.press("alt+9") // no such option
	if s.m.focus != onComposer {
		t.Error("a chord without option takes the focus")
	}
}

func TestAClickSelectsAChoiceAndDecidesNothing(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.waitGrace()
	s.click("Allow once", 0)
	if s.m.focus != onApproval {
		t.Error("a click on the panel does not focus it")
	}
	s.mustSendNothing()
	s.mustShow("▸ 1 Allow once")
	s.press("enter") // within the grace period
	s.mustSendNothing()
	s.waitGrace()
	s.press("enter")
	if d := s.mustSend(protocol.DoApprove).(protocol.ApproveData); d.Option != "once" {
		t.Errorf("got %+v", d)
	}
}

// openApproval opens a session with one pending request, exactly as given, and its tool call.
func openApproval(t *testing.T, a protocol.Approval) *testScreen {
	t.Helper()
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	j.Tool("c1", protocol.ToolStartedData{Name: a.Name}, "")
	j.Add(protocol.ToolInput, protocol.ToolInputData{Tool: "c1", Input: a.Input})
	j.Add(protocol.ApprovalRequested, a)
	j.CaughtUp()
	s := open(t, j, 80, 30)
	s.waitGrace()
	return s
}

func TestApprovalShowsItsTextsOnce(t *testing.T) {
	choices := []protocol.Choice{{ID: "red", Label: "red"}}
	question := protocol.Question{ID: "Red or blue?", Text: "Red or blue?", Choices: choices}
	input := json.RawMessage(`{"questions":[{"question":"Red or blue?","options":[{"label":"red"}]}]}`)
	ask := protocol.Approval{
		Request: "r1", Tool: "c1", Name: "AskUserQuestion", Kind: protocol.ApproveQuestion, Title: "AskUserQuestion",
		Questions: []protocol.Question{question}, Input: input,
	}
	titled := ask
	titled.Title, titled.Input = "Red or blue?", nil
	command := tuitest.CommandApproval()
	command.Title, command.Name, command.Tool = command.Command, "Bash", "c1"
	described := tuitest.PlanApproval()
	described.Title = "Confirm: " + described.Why
	for name, c := range map[string]struct {
		request protocol.Approval
		text    string
	}{
		"a question": {ask, "Red or blue?"}, "a plan": {tuitest.PlanApproval(), "2. change"},
	} {
		s := openApproval(t, c.request)
		if n := strings.Count(s.text(), c.text); n != 1 {
			t.Errorf("%s: the screen shows %q %d times:\n%s", name, c.text, n, s.text())
		}
	}
	for name, c := range map[string]struct {
		request protocol.Approval
		text    string
	}{
		"a question that is the title": {titled, "Red or blue?"}, "a plan in the title": {described, "2. change"},
		"a command that is the title": {command, "go mod tidy"},
	} {
		s := openApproval(t, c.request)
		_, panel, _ := strings.Cut(s.text(), "─ approval")
		panel, _, _ = strings.Cut(panel, "Allow once")
		if n := strings.Count(panel, c.text); n != 1 {
			t.Errorf("%s: the panel shows %q %d times:\n%s", name, c.text, n, s.text())
		}
	}
	s := openApproval(t, titled)
	s.focusApproval()
	s.press("y") // the form shows the whole request
	s.mustShow("no question is answered yet")
}

func TestApprovalSentOnce(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 30)
	s.focusApproval()
	cmd := s.startKey("y")
	s.mustShow("sending: Allow once")
	s.press("3", "enter", "y", "esc")
	s.mustSendNothing()
	s.run(cmd)
	s.mustSend(protocol.DoApprove)
	s.journal.AddBy(tuitest.Ada, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
		Request: "r1", Outcome: protocol.Allowed, Decision: protocol.AllowOnce,
	})
	s.applyJournal()
	s.mustShow("✓ allowed · decided by ada", "Fetch a page")
	s.mustHide("1 of 2")
	s.press("tab", "y") // the next request has its own grace period
	s.mustSendNothing()
}

func TestApprovalWhileDisconnected(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 30)
	s.waitGrace()
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
	s.applyJournal()
	s.focusApproval()
	cmd := s.startKey("y")
	s.mustShow("waits for the connection: Allow once")
	s.journal.Reconnect(protocol.ModeResume, 0)
	s.journal.CaughtUp()
	s.applyJournal()
	s.mustShow("sending: Allow once")
	s.run(cmd)
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Option != "once" {
		t.Errorf("got decision %+v", data)
	}
}

func TestApprovalConflict(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 100, 30)
	s.waitGrace()
	s.refuse(&protocol.Error{
		Code:    protocol.CodeConflict,
		Message: "already denied",
		Winner:  &protocol.Winner{By: tuitest.Bob, Outcome: protocol.Denied},
	})
	s.focusApproval()
	s.press("y")
	s.mustShow("already denied · decided by bob")
	s.journal.AddBy(tuitest.Bob, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
		Request: "r1", Outcome: protocol.Denied, Decision: protocol.Deny,
	})
	s.applyJournal()
	s.mustShow("✗ denied · decided by bob")
	s.mustHide("1 of 2")
}

func TestApprovalRetryAfterError(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 100, 40)
	s.waitGrace()
	s.refuse(tuitest.ErrRefused)
	s.focusApproval()
	s.press("y")
	s.mustSend(protocol.DoApprove)
	s.mustShow("observers may not do that", "1 Allow once")
	s.press("y")
	s.mustSend(protocol.DoApprove)
}

func TestApprovalPager(t *testing.T) {
	j := tuitest.Conversation()
	a := tuitest.CommandApproval()
	for i := range 100 {
		a.Patch += "+ line " + string(rune('a'+i%26)) + "\n"
	}
	a.Patch += "+ the end"
	j.RequestApproval(a)
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.waitGrace()
	s.focusApproval()
	s.mustShow("not shown: v views all", "1 Allow once", "go mod tidy")
	s.press("v", "G")
	s.mustShow("+ the end", "esc back")
	s.press("q")
	s.mustShow("1 Allow once")
}

// What a user writes about a request continues in the message box if it is decided elsewhere. The
// enter that was to end it sends nothing.
func TestATextAboutARequestIsKeptWhenItIsDecidedElsewhere(t *testing.T) {
	for name, prepare := range map[string]func(*testScreen){
		"typing":  func(*testScreen) {},
		"written": func(s *testScreen) { s.press("enter") },
		"sending": func(s *testScreen) {
			s.session.Reply = func(tuitest.Command) (any, error) {
				return nil, &protocol.Error{Code: protocol.CodeConflict, Message: "decided"}
			}
			s.press("enter", "n")
		},
	} {
		s := open(t, tuitest.Scenes["approval"](), 100, 30)
		s.typeText("a draft")
		s.focusApproval()
		s.press("r")
		s.typeText("not y")
		prepare(s)
		s.journal.AddBy(tuitest.Bob, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
			Request: "r1", Outcome: protocol.Denied, Decision: protocol.Deny,
		})
		s.applyJournal()
		s.takeCommands()
		if got, want := s.m.input.Composer().Text(), "a draft\n\nnot y"; got != want {
			t.Errorf("%s: got the message box %q, want %q", name, got, want)
		}
		if name != "typing" {
			continue
		}
		s.typeText("et")
		s.press("enter")
		s.mustSendNothing()
		s.press("enter")
		if data := s.mustSend(protocol.DoSend).(protocol.SendData); data.Text != "a draft\n\nnot yet" {
			t.Errorf("sent %q", data.Text)
		}
	}
}

// The event of a decision that the same user made elsewhere comes before the answer to the one from
// here.
func TestATextThatWasSentIsKeptWhenTheAnswerIsAConflict(t *testing.T) {
	for _, conflict := range []bool{false, true} {
		s := open(t, tuitest.Scenes["approval"](), 100, 30)
		s.focusApproval()
		s.press("r")
		s.typeText("not yet")
		s.press("enter")
		if conflict {
			s.refuse(&protocol.Error{Code: protocol.CodeConflict, Message: "decided by ada"})
		}
		s.now = s.now.Add(approval.Grace)
		answer := s.startKey("n")
		s.journal.AddBy(tuitest.Ada, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
			Request: "r1", Outcome: protocol.Denied, Decision: protocol.Deny,
		})
		s.applyJournal()
		if got := s.m.input.Composer().Text(); got != "" {
			t.Errorf("got the message box %q before the answer", got)
		}
		s.run(answer)
		want := map[bool]string{true: "not yet"}[conflict]
		if got := s.m.input.Composer().Text(); got != want {
			t.Errorf("conflict %v: got the message box %q, want %q", conflict, got, want)
		}
		if conflict {
			s.mustShow("your text is in the message box · ", "not yet")
		}
	}
}

// A decided request opens as its card, and its line names the tool, whatever the agent calls it.
func TestADecidedRequestOpensAsItsCard(t *testing.T) {
	for _, key := range []string{"enter", "v"} {
		j := tuitest.Scenes["transcript"]()
		j.RequestApproval(protocol.Approval{
			Request: "r1", Kind: protocol.ApproveTool, Title: "Look at a page", Name: "mcp__github__delete_repository",
			Input: json.RawMessage(`{"repository":"shop"}`),
		})
		j.AddBy(tuitest.Bob, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
			Request: "r1", Outcome: protocol.Allowed, Decision: protocol.AllowOnce, Reason: "it is a copy",
		})
		s := open(t, j, 100, 40)
		s.mustShow("? mcp__github__delete_repository · Look at a page")
		s.m.setFocus(onTranscript)
		s.press(key)
		s.mustShow("tool    ▏ mcp__github__delete_repository", `"shop"`, "decided by bob at", "it is a copy")
		s.press("y", "n")
		s.mustSendNothing()
		s.press("esc")
		s.mustShow("? mcp__github__delete_repository")
	}
}
