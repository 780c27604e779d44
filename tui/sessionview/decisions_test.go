package sessionview

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
)

func TestApprovalGrace(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.press("tab")
	s.mustShow("a moment …")
	s.press("y", "1", "enter")
	s.mustSendNothing()
	s.mustShow("the request is new")
	s.now = s.now.Add(approval.Grace / 2)
	s.press("y") // restarts the grace period
	s.now = s.now.Add(approval.Grace * 3 / 4)
	s.fireGuards()
	s.press("y")
	s.mustSendNothing()
	s.waitGrace()
	s.press("y")
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Request != "r1" || data.Option != "once" {
		t.Errorf("got decision %+v", data)
	}
}

func TestApprovalGraceIgnoresEvents(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.press("tab")
	for range 4 { // the turn continues meanwhile
		s.now = s.now.Add(approval.Grace / 3)
		s.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: " more"})
		s.applyJournal()
	}
	s.fireGuards()
	s.press("y")
	s.mustSend(protocol.DoApprove)
}

func TestApprovalTakesNoFirstKey(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.focusApproval()
	s.press("n")
	s.mustSend(protocol.DoApprove)
	s.journal.AddBy(tuitest.Ada, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
		Request: "r1", Outcome: protocol.Denied, Decision: protocol.Deny,
	})
	s.applyJournal()
	s.mustShow("Fetch a page")
	s.waitGrace() // the next request is old enough, but the key may be meant for the former
	s.press("y")
	s.mustSendNothing()
	s.press("y")
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Request != "r2" {
		t.Errorf("got decision %+v, want one on r2", data)
	}
}

func TestApprovalOtherRequestIsNew(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.focusApproval()
	s.press("right", "y", "y")
	s.mustSendNothing()
	s.waitGrace()
	s.press("y")
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Request != "r2" {
		t.Errorf("got decision %+v, want one on r2", data)
	}
}

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

func TestApprovalArguments(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 30)
	s.journal.RequestApproval(protocol.Approval{
		Request: "r1",
		Kind:    protocol.ApproveTool,
		Title:   "Fetch a page",
		Input:   json.RawMessage(`{"url":"https://x.y/z"}`),
	})
	s.applyJournal()
	s.mustShow("Fetch a page", "https://x.y/z")
	s = open(t, tuitest.Scenes["transcript"](), 80, 30)
	s.journal.RequestApproval(protocol.Approval{
		Request: "r1",
		Kind:    protocol.ApproveCommand,
		Title:   "Run",
		Command: "make",
		Input:   json.RawMessage(`{"argv":["make"],"raw":true}`),
	})
	s.applyJournal()
	s.mustShow("command ▏ make", `input   ▏ {"argv":["make"],"raw":true}`)
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
	for y, line := range strings.Split(s.text(), "\n") {
		if strings.Contains(line, "Allow once") {
			s.update(tea.MouseClickMsg{X: 8, Y: y, Button: tea.MouseLeft})
		}
	}
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

func TestApprovalOptions(t *testing.T) {
	for at, want := range []protocol.ApproveData{
		{Request: "r1", Option: "once"},
		{Request: "r1", Option: "always"},
		{Request: "r1", Option: "no"},
		{Request: "r1", Option: "stop"},
		{Request: "r1", Option: "explain"},
	} {
		for _, byDigit := range []bool{false, true} {
			s := open(t, tuitest.Scenes["approval"](), 80, 30)
			s.focusApproval()
			s.mustShow("2 Always allow ▏ go mod tidy in /home/ada/store")
			if byDigit {
				s.press(string(rune('1' + at)))
			} else {
				for range at + 1 {
					s.press("down")
				}
			}
			s.mustSendNothing()
			s.press("enter")
			if want.Option == "always" {
				s.press("y")
			}
			if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); !reflect.DeepEqual(data, want) {
				t.Errorf("option %d: got %+v, want %+v", at, data, want)
			}
		}
	}
}

func TestApprovalLetters(t *testing.T) {
	for key, want := range map[string]string{"y": "once", "n": "no", "d": "no"} {
		s := open(t, tuitest.Scenes["approval"](), 80, 30)
		s.focusApproval()
		s.press(key)
		if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Option != want {
			t.Errorf("%s: got %+v, want option %s", key, data, want)
		}
	}
}

func TestAlwaysShowsItsScopeAndAsksOnceMore(t *testing.T) {
	for _, keys := range [][]string{{"a"}, {"2", "enter"}} {
		for _, c := range []struct {
			key  string
			sent bool
		}{{"y", true}, {"n", false}, {"esc", false}, {"enter", false}, {"a", false}, {"2", false}} {
			s := open(t, tuitest.Scenes["approval"](), 40, 30)
			s.focusApproval()
			s.press(keys...)
			s.mustSendNothing()
			s.mustShow("Allow this always", "▏ go mod tidy in", "y allow always")
			s.press(c.key)
			if !c.sent {
				s.mustSendNothing()
				s.mustShow("1 Allow once")
				continue
			}
			if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Option != "always" {
				t.Errorf("got %+v, want option always", data)
			}
		}
	}
}

func TestApprovalReason(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 30)
	s.focusApproval()
	s.press("r")
	s.typeText("not 2 day")
	if s.m.View().Cursor == nil {
		t.Error("no cursor in the reason")
	}
	s.press("enter")
	s.mustShow("r reason: ▏ not 2 day")
	s.press("n")
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Option != "no" ||
		data.Reason != "not 2 day" {
		t.Errorf("got decision %+v", data)
	}
}

// planApproval returns a request for a plan whose text is also its tool's argument.
func planApproval() protocol.Approval {
	return protocol.Approval{
		Request: "r1", Tool: "c1", Name: "ExitPlanMode", Kind: protocol.ApprovePlan, Title: "ExitPlanMode",
		Why: "# Two steps\n1. look\n2. change", Input: json.RawMessage(`{"plan":"# Two steps\n1. look\n2. change"}`),
		Options: []protocol.Option{
			{ID: "yes", Kind: protocol.AllowOnce, Label: "Allow"}, {ID: "no", Kind: protocol.Deny, Label: "Deny"},
		},
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

func TestRevisionAsksForItsReason(t *testing.T) {
	for name, keys := range map[string][]string{
		"number": {"3", "enter"}, "row": {"down", "down", "down", "enter"},
	} {
		s := openApproval(t, planApproval())
		s.focusApproval()
		s.mustShow("3 Revise with reason")
		s.press(keys...)
		s.mustSendNothing()
		s.mustShow("enter sends · esc discard")
		s.press("enter")
		s.mustSendNothing()
		s.mustShow("a new plan needs a reason")
		s.press("3", "enter")
		s.typeText("in 1 step")
		s.press("enter")
		data := s.mustSend(protocol.DoApprove).(protocol.ApproveData)
		want := protocol.ApproveData{
			Request: "r1", Option: "", Decision: protocol.Deny, Reason: "in 1 step",
			Input: &protocol.ApprovalInput{Replan: true},
		}
		if !reflect.DeepEqual(data, want) {
			t.Errorf("%s: got %+v, want %+v", name, data, want)
		}
	}
}

func TestRevisionIsDiscarded(t *testing.T) {
	s := openApproval(t, planApproval())
	s.focusApproval()
	s.press("3", "enter")
	s.typeText("in 1 step")
	s.press("esc")
	s.mustSendNothing()
	s.press("r")
	s.typeText("shorter")
	s.press("enter") // only the reason: no decision was chosen
	s.mustSendNothing()
	s.press("3", "enter")
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Reason != "shorter" {
		t.Errorf("got %+v, want the reason as written", data)
	}
}

func TestRevisionNeedsADenial(t *testing.T) {
	a := planApproval()
	a.Options = a.Options[:1]
	s := openApproval(t, a)
	s.mustShow("Allow once")
	s.mustHide("Revise")
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
	described := planApproval()
	described.Title = "Confirm: " + described.Why
	for name, c := range map[string]struct {
		request protocol.Approval
		text    string
	}{
		"a question": {ask, "Red or blue?"}, "a plan": {planApproval(), "2. change"},
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

func TestApprovalShowsArgumentsThatNothingElseShows(t *testing.T) {
	a := planApproval()
	a.Input = json.RawMessage(`{"plan":"# Two steps\n1. look\n2. change","mode":"full","note":""}`)
	s := openApproval(t, a)
	s.mustShow("▏ mode: full", "▏ note:", "▏ # Two steps")
	s.mustHide("▏ plan:")
}

func TestApprovalSentOnce(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 30)
	s.focusApproval()
	cmd := s.m.Update(tuitest.KeyPress("y"))
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
	cmd := s.m.Update(tuitest.KeyPress("y"))
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

func TestApprovalPatchNotEditable(t *testing.T) {
	s := open(t, tuitest.Scenes["patch"](), 100, 40)
	r := &s.m.replica.State.Approvals[0]
	r.Editable = false
	s.focusApproval()
	s.mustHide("p edit")
	s.press("p")
	s.mustShow("this agent takes no edited patch")
}

func TestApprovalExplain(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 40)
	s.focusApproval()
	s.press("5", "enter")
	s.mustSend(protocol.DoApprove)
	s.journal.Add(protocol.ApprovalExplained, protocol.ApprovalExplainedData{
		Request: "r1", Text: "It drops what nothing imports.",
	})
	s.applyJournal()
	s.mustShow("explain ▏ It drops what nothing imports.", "1 Allow once")
	s.press("y")
	s.mustSend(protocol.DoApprove)
}

func TestQuestionAnswers(t *testing.T) {
	s := open(t, tuitest.Scenes["question"](), 80, 40)
	s.focusApproval()
	s.press("2")                   // SQLite, then the next question
	s.press("up", "up", "up", "1") // change to Postgres
	s.mustShow("(•) ▏ Postgres", "( ) ▏ SQLite", "▸ Other:")
	s.press("enter")
	s.typeText("store")
	s.update(tea.PasteMsg{Content: " of\nada"})
	s.press("enter")
	s.mustShow("Other: ▏ store of ada")
	s.press("y")
	data := s.mustSend(protocol.DoApprove).(protocol.ApproveData)
	want := map[string][]string{"db": {"pg"}, "name": {"store of ada"}}
	if data.Option != "answer" || data.Input == nil || !reflect.DeepEqual(data.Input.Answers, want) {
		t.Errorf("got answer %+v with input %+v", data, data.Input)
	}
}

func TestQuestionMultipleChoice(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "ask me")
	j.RequestApproval(protocol.Approval{
		Request: "r1",
		Kind:    protocol.ApproveQuestion,
		Title:   "Which?",
		Questions: []protocol.Question{
			{
				ID:      "of",
				Text:    "Which of them?",
				Many:    true,
				Choices: []protocol.Choice{{ID: "x", Label: "Left"}, {ID: "y", Label: "Right"}},
			},
		},
	})
	j.CaughtUp()
	s := open(t, j, 80, 30)
	s.focusApproval()
	s.press("enter")
	s.mustShow("[x] ▏ Left", "[ ] ▏ Right")
	s.press("2")
	s.mustShow("[x] ▏ Left", "[x] ▏ Right")
}

func TestApprovalNextRequest(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 30)
	s.focusApproval()
	s.press("right")
	s.mustShow("approval 2 of 2")
	s.waitGrace()
	s.press("y")
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Request != "r2" || data.Option != "once" {
		t.Errorf("got decision %+v", data)
	}
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

func TestPlanApproval(t *testing.T) {
	scene := func() *testScreen {
		j := tuitest.Conversation()
		j.RequestApproval(protocol.Approval{
			Request: "p1",
			Kind:    protocol.ApprovePlan,
			Title:   "Three tasks",
			Tasks: []protocol.Task{
				{ID: "a", Title: "Read"},
				{ID: "b", Title: "Write", After: []string{"a"}},
				{ID: "c", Title: "Build", After: []string{"a", "b"}},
			},
		})
		j.CaughtUp()
		s := open(t, j, 80, 40)
		s.focusApproval()
		return s
	}
	s := scene()
	s.press("y")
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Input != nil {
		t.Errorf("got input %+v for an unchanged plan, want none", data.Input)
	}
	s = scene()
	s.mustShow("[x] task 1 ▏ Read", "[x] task 2 after 1 ▏ Write", "[x] task 3 after 1, 2 ▏ Build")
	s.press("down", "enter")
	s.mustShow("[ ] task 2 after 1 ▏ Write", "[x] task 3 after 1 ▏ Build")
	s.press("y")
	data := s.mustSend(protocol.DoApprove).(protocol.ApproveData)
	want := []protocol.Task{{ID: "a", Title: "Read"}, {ID: "c", Title: "Build", After: []string{"a"}}}
	if data.Input == nil || !reflect.DeepEqual(data.Input.Tasks, want) {
		t.Errorf("got input %+v, want %+v", data.Input, want)
	}
	s = scene()
	s.press("r")
	s.typeText("shorter")
	s.press("enter", "5", "enter")
	data = s.mustSend(protocol.DoApprove).(protocol.ApproveData)
	if data.Decision != protocol.Deny || data.Reason != "shorter" || data.Input == nil || !data.Input.Replan {
		t.Errorf("got revision %+v", data)
	}
}

func TestApprovalTooSmallWindow(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 60, 24)
	s.focusApproval()
	s.press("3")
	s.update(tea.WindowSizeMsg{Width: 60, Height: 4})
	s.press("enter")
	s.mustSendNothing()
	s.update(tea.WindowSizeMsg{Width: 60, Height: 9})
	s.mustShow("▸ 3 Deny")
	s.press("enter")
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Option != "no" {
		t.Errorf("got decision %+v", data)
	}
}

func TestApprovalOutcomeText(t *testing.T) {
	rule := &protocol.Rule{Scope: "every use of it"}
	for _, c := range []struct {
		r    protocol.ApprovalResolvedData
		by   *protocol.Actor
		want string
	}{
		{protocol.ApprovalResolvedData{Outcome: protocol.Allowed}, &tuitest.Ada, "✓ allowed · decided by ada"},
		{
			protocol.ApprovalResolvedData{Outcome: protocol.Allowed, Decision: protocol.AllowAlways, Rule: rule},
			&tuitest.Ada, "✓ allowed always (every use of it) · decided by ada",
		},
		{
			protocol.ApprovalResolvedData{Outcome: protocol.Allowed, Decision: protocol.AllowAlways},
			&tuitest.Ada, "✓ allowed always · decided by ada",
		},
		{
			protocol.ApprovalResolvedData{Outcome: protocol.Allowed, Decision: protocol.AllowAlways, ByRule: "u1"},
			&tuitest.Ada, "✓ allowed always · by rule u1 of ada",
		},
		{
			protocol.ApprovalResolvedData{Outcome: protocol.Denied, Decision: protocol.DenyStop, Reason: "no"},
			&tuitest.Bob, "✗ denied and stopped · decided by bob · no",
		},
		{protocol.ApprovalResolvedData{Outcome: protocol.Expired}, nil, "✗ expired: no decision in time"},
		{protocol.ApprovalResolvedData{Outcome: protocol.Cancelled}, nil, "⊘ cancelled"},
		{protocol.ApprovalResolvedData{Outcome: "of tomorrow"}, nil, "of tomorrow"},
	} {
		if got := describe.Outcome(nil, &c.r, c.by, ""); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.r, got, c.want)
		}
	}
}

func TestTheLabelOfAChosenOptionIsOneLineOfTheOutcome(t *testing.T) {
	a := &protocol.Approval{Options: []protocol.Option{{ID: "x", Label: "Go\n✗ denied · decided by ada"}}}
	r := &protocol.ApprovalResolvedData{Outcome: protocol.Allowed, Option: "x"}
	if got, want := describe.Outcome(a, r, &tuitest.Bob, ""),
		"✓ allowed · “Go ✗ denied · decided by ada” · decided by bob"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What a user writes about a request goes on in the message box if it is decided elsewhere. The
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
