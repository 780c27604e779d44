package sessionview

import (
	"encoding/json"
	"reflect"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
)

func TestARequestIgnoresKeysInFlight(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.shows("a moment …")
	s.press("tab", "1", "enter")
	s.askedNothing()
	s.now = s.now.Add(approval.Grace / 2)
	s.press("1") // starts the silence anew
	s.now = s.now.Add(approval.Grace * 3 / 4)
	s.guards()
	s.press("1")
	s.askedNothing()
	s.quiet()
	s.press("1")
	if data := s.asked(protocol.DoApprove).(protocol.ApproveData); data.Request != "r1" || data.Option != "once" {
		t.Errorf("decided %+v", data)
	}
}

func TestWhatTheAgentSaysMeanwhileDoesNotHoldTheRequestUp(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	for range 4 { // the turn goes on beside it
		s.now = s.now.Add(approval.Grace / 3)
		s.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: " more"})
		s.tell()
	}
	s.guards()
	s.press("1")
	s.asked(protocol.DoApprove)
}

func TestARequestIsLeftWithEscape(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.quiet()
	s.press("tab")
	if s.m.focus != onApproval {
		t.Fatal("it has not the focus")
	}
	s.press("esc")
	if s.m.focus != onComposer {
		t.Error("it keeps the focus")
	}
	s.askedNothing()
}

func TestARequestShowsItsArgumentsWhereNothingElseSaysWhatItDoes(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 30)
	s.journal.RequestApproval(protocol.Approval{Request: "r1", Kind: protocol.ApproveTool, Title: "Fetch a page", Input: json.RawMessage(`{"url":"https://x.y/z"}`)})
	s.tell()
	s.shows("Fetch a page", "https://x.y/z")
	s = open(t, tuitest.Scenes["transcript"](), 80, 30)
	s.journal.RequestApproval(protocol.Approval{Request: "r1", Kind: protocol.ApproveCommand, Title: "Run", Command: "make", Input: json.RawMessage(`{"argv":["make"],"raw":true}`)})
	s.tell()
	s.shows("$ make")
	s.hides("argv")
}

func TestANumberThatComesTooSoonIsNoMessage(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.press("1")
	s.shows("the request is new", "a moment …")
	if got := s.m.composer.Value(); got != "" {
		t.Errorf("the composer has %q", got)
	}
	s.press("9") // which is no option, so it is text
	s.press("backspace")
	s.quiet()
	s.press("1")
	if data := s.asked(protocol.DoApprove).(protocol.ApproveData); data.Option != "once" {
		t.Errorf("decided %+v", data)
	}
	s.hides("the request is new")
}

func TestTheFocusedRequestSaysThatAKeyCameTooSoon(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.press("tab", "2")
	s.shows("the request is new")
	s.askedNothing()
}

func TestARequestNeverTakesTheComposersKeys(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.write("version ")
	s.journal.RequestApproval(tuitest.CommandApproval())
	s.tell()
	s.quiet()
	s.write("2")
	s.askedNothing()
	s.shows("> version 2", "Tidy the module")
}

func TestAnEmptyComposerLetsNumbersDecide(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.quiet()
	s.press("2")
	if data := s.asked(protocol.DoApprove).(protocol.ApproveData); data.Option != "always" {
		t.Errorf("decided %+v", data)
	}
}

func TestEveryOptionCanBeChosenAndItsScopeShowsBefore(t *testing.T) {
	for at, want := range []protocol.ApproveData{
		{Request: "r1", Option: "once"},
		{Request: "r1", Option: "always"},
		{Request: "r1", Option: "no"},
		{Request: "r1", Option: "stop"},
		{Request: "r1", Option: "explain"},
	} {
		s := open(t, tuitest.Scenes["approval"](), 80, 30)
		s.quiet()
		s.press("tab")
		s.shows("Always allow: go mod tidy in /home/ada/store")
		for range at {
			s.press("down")
		}
		s.press("enter")
		if data := s.asked(protocol.DoApprove).(protocol.ApproveData); !reflect.DeepEqual(data, want) {
			t.Errorf("option %d decided %+v, want %+v", at, data, want)
		}
	}
}

func TestAReasonGoesWithTheDecision(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 30)
	s.quiet()
	s.press("tab", "r")
	s.write("not 2 day")
	if s.m.View().Cursor == nil {
		t.Error("no cursor where the reason is written")
	}
	s.press("enter")
	s.shows("r reason: not 2 day")
	s.press("3")
	if data := s.asked(protocol.DoApprove).(protocol.ApproveData); data.Option != "no" || data.Reason != "not 2 day" {
		t.Errorf("decided %+v", data)
	}
}

func TestADecisionUnderWayCannotBeRepeated(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 30)
	s.quiet()
	s.press("tab")
	cmd := s.m.Update(tuitest.KeyPress("1"))
	s.shows("sending: Allow once")
	s.press("3", "enter", "esc", "1")
	s.askedNothing()
	s.run(cmd)
	s.asked(protocol.DoApprove)
	s.journal.AddBy(tuitest.Ada, protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "r1", Outcome: protocol.Allowed, Decision: protocol.AllowOnce})
	s.tell()
	s.shows("✓ allowed · decided by ada", "Fetch a page")
	s.hides("1 of 2")
	s.press("1") // the next request has a Grace of its own
	s.askedNothing()
}

func TestADecisionWaitsForTheConnection(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 30)
	s.quiet()
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
	s.tell()
	s.press("tab")
	cmd := s.m.Update(tuitest.KeyPress("1"))
	s.shows("waits for the connection: Allow once")
	s.journal.Reconnect(protocol.ModeResume, 0)
	s.journal.CaughtUp()
	s.tell()
	s.shows("sending: Allow once")
	s.run(cmd)
	if data := s.asked(protocol.DoApprove).(protocol.ApproveData); data.Option != "once" {
		t.Errorf("decided %+v", data)
	}
}

func TestTheScreenSaysWhoWasFirst(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 100, 30)
	s.quiet()
	s.refuse(&protocol.Error{Code: protocol.CodeConflict, Message: "already denied", Winner: &protocol.Winner{By: tuitest.Bob, Outcome: protocol.Denied}})
	s.press("tab", "1")
	s.shows("already denied · decided by bob")
	s.journal.AddBy(tuitest.Bob, protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "r1", Outcome: protocol.Denied, Decision: protocol.Deny})
	s.tell()
	s.shows("✗ denied · decided by bob")
	s.hides("1 of 2")
}

func TestARefusedDecisionCanBeTakenAgain(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 100, 40)
	s.quiet()
	s.refuse(tuitest.ErrRefused)
	s.press("tab", "1")
	s.asked(protocol.DoApprove)
	s.shows("observers may not do that", "1 Allow once")
	s.press("1")
	s.asked(protocol.DoApprove)
}

func TestAPatchThatCannotBeEditedIsNotOffered(t *testing.T) {
	s := open(t, tuitest.Scenes["patch"](), 100, 40)
	r := &s.m.replica.state.Approvals[0]
	r.Editable = false
	s.quiet()
	s.press("tab")
	s.hides("p edit")
	s.press("p")
	s.shows("this agent takes no edited patch")
}

func TestAnExplanationKeepsTheRequest(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 40)
	s.quiet()
	s.press("tab", "5")
	s.asked(protocol.DoApprove)
	s.journal.Add(protocol.ApprovalExplained, protocol.ApprovalExplainedData{Request: "r1", Text: "It drops what nothing imports."})
	s.tell()
	s.shows("explained: It drops what nothing imports.", "1 Allow once")
	s.press("1")
	s.asked(protocol.DoApprove)
}

func TestQuestionsAreAnswered(t *testing.T) {
	s := open(t, tuitest.Scenes["question"](), 80, 40)
	s.quiet()
	s.press("tab", "down", "enter") // SQLite
	s.press("up", "enter")          // no: Postgres
	s.shows("(•) Postgres", "( ) SQLite")
	s.press("down", "down", "down", "enter")
	s.write("store")
	s.give(tea.PasteMsg{Content: " of\nada"})
	s.press("enter")
	s.shows("Other: store of ada")
	s.press("1")
	data := s.asked(protocol.DoApprove).(protocol.ApproveData)
	want := map[string][]string{"db": {"pg"}, "name": {"store of ada"}}
	if data.Option != "answer" || data.Input == nil || !reflect.DeepEqual(data.Input.Answers, want) {
		t.Errorf("answered %+v with %+v", data, data.Input)
	}
}

func TestWhatMayBeChosenTogetherLooksSo(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "ask me")
	j.RequestApproval(protocol.Approval{Request: "r1", Kind: protocol.ApproveQuestion, Title: "Which?", Questions: []protocol.Question{{
		ID: "of", Text: "Which of them?", Many: true, Choices: []protocol.Choice{{ID: "x", Label: "Left"}, {ID: "y", Label: "Right"}},
	}}})
	j.CaughtUp()
	s := open(t, j, 80, 30)
	s.quiet()
	s.press("tab", "enter")
	s.shows("[x] Left", "[ ] Right")
	s.press("down", "enter")
	s.shows("[x] Left", "[x] Right")
}

func TestOtherRequestsAreAKeyAway(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 30)
	s.quiet()
	s.press("tab", "right")
	s.shows("approval 2 of 2")
	s.press("1")
	if data := s.asked(protocol.DoApprove).(protocol.ApproveData); data.Request != "r2" || data.Option != "once" {
		t.Errorf("decided %+v", data)
	}
}

func TestALongRequestCanBeReadWhole(t *testing.T) {
	j := tuitest.Conversation()
	a := tuitest.CommandApproval()
	for i := range 100 {
		a.Patch += "+ line " + string(rune('a'+i%26)) + "\n"
	}
	a.Patch += "+ the end"
	j.RequestApproval(a)
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.quiet()
	s.shows("more: v views all", "1 Allow once")
	s.press("tab", "v", "G")
	s.shows("+ the end", "esc back")
	s.press("q")
	s.shows("1 Allow once")
}

func TestAPlanLosesTasksOrIsMadeAnew(t *testing.T) {
	scene := func() *screen {
		j := tuitest.Conversation()
		j.RequestApproval(protocol.Approval{
			Request: "p1", Kind: protocol.ApprovePlan, Title: "Three tasks",
			Tasks: []protocol.Task{{ID: "a", Title: "Read"}, {ID: "b", Title: "Write", After: []string{"a"}}, {ID: "c", Title: "Build", After: []string{"a", "b"}}},
		})
		j.CaughtUp()
		s := open(t, j, 80, 40)
		s.quiet()
		s.press("tab")
		return s
	}
	s := scene()
	s.press("1")
	if data := s.asked(protocol.DoApprove).(protocol.ApproveData); data.Input != nil {
		t.Errorf("an untouched plan carries %+v", data.Input)
	}
	s = scene()
	s.press("down", "enter")
	s.shows("[x] Read", "[ ] Write", "[x] Build")
	s.press("1")
	data := s.asked(protocol.DoApprove).(protocol.ApproveData)
	want := []protocol.Task{{ID: "a", Title: "Read"}, {ID: "c", Title: "Build", After: []string{"a"}}}
	if data.Input == nil || !reflect.DeepEqual(data.Input.Tasks, want) {
		t.Errorf("allowed with %+v, want %+v", data.Input, want)
	}
	s = scene()
	s.press("r")
	s.write("shorter")
	s.press("enter", "5")
	data = s.asked(protocol.DoApprove).(protocol.ApproveData)
	if data.Decision != protocol.Deny || data.Reason != "shorter" || data.Input == nil || !data.Input.Replan {
		t.Errorf("asked for another plan with %+v", data)
	}
}

func TestNobodyDecidesOnWhatTheWindowHasNoRoomFor(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 60, 24)
	for _, height := range []int{11, 7, 6, 5} {
		s.give(tea.WindowSizeMsg{Width: 60, Height: height})
		s.m.setFocus(onComposer)
		s.quiet()
		s.press("3")
		s.askedNothing()
		s.shows("▸ 3 Deny")
	}
	s.give(tea.WindowSizeMsg{Width: 60, Height: 3})
	s.press("enter", "3")
	s.askedNothing()
	s.give(tea.WindowSizeMsg{Width: 60, Height: 6})
	s.press("enter")
	if data := s.asked(protocol.DoApprove).(protocol.ApproveData); data.Option != "no" {
		t.Errorf("decided %+v", data)
	}
}

func TestHowARequestStandsIsSaidInWords(t *testing.T) {
	rule := &protocol.Rule{Scope: "every use of it"}
	for _, c := range []struct {
		r    protocol.ApprovalResolvedData
		by   *protocol.Actor
		want string
	}{
		{protocol.ApprovalResolvedData{Outcome: protocol.Allowed}, &tuitest.Ada, "✓ allowed · decided by ada"},
		{protocol.ApprovalResolvedData{Outcome: protocol.Allowed, Decision: protocol.AllowAlways, Rule: rule}, &tuitest.Ada, "✓ allowed always (every use of it) · decided by ada"},
		{protocol.ApprovalResolvedData{Outcome: protocol.Allowed, Decision: protocol.AllowAlways}, &tuitest.Ada, "✓ allowed always · decided by ada"},
		{protocol.ApprovalResolvedData{Outcome: protocol.Allowed, Decision: protocol.AllowAlways, ByRule: "u1"}, &tuitest.Ada, "✓ allowed always · by rule u1"},
		{protocol.ApprovalResolvedData{Outcome: protocol.Denied, Decision: protocol.DenyStop, Reason: "no"}, &tuitest.Bob, "✗ denied and stopped · decided by bob · no"},
		{protocol.ApprovalResolvedData{Outcome: protocol.Expired}, nil, "✗ expired: nobody decided in time"},
		{protocol.ApprovalResolvedData{Outcome: protocol.Cancelled}, nil, "⊘ cancelled"},
		{protocol.ApprovalResolvedData{Outcome: "of tomorrow"}, nil, "of tomorrow"},
	} {
		if got := describe.Outcome(&c.r, c.by); got != c.want {
			t.Errorf("%+v: %q, want %q", c.r, got, c.want)
		}
	}
}

func TestADecisionOfSomebodyElseIsSaidAloud(t *testing.T) {
	denied := protocol.ApprovalResolvedData{Request: "r1", Outcome: protocol.Denied, Decision: protocol.Deny}
	s := open(t, tuitest.Scenes["approval"](), 100, 30)
	s.quiet()
	s.m.status.Text = ""
	s.journal.AddBy(tuitest.Bob, protocol.ApprovalResolved, denied)
	s.tell()
	if s.m.status.Text != "✗ denied · decided by bob" {
		t.Errorf("said %q", s.m.status.Text)
	}
	s = open(t, tuitest.Scenes["approval"](), 100, 30) // one's own needs no word
	s.quiet()
	_ = s.m.Update(tuitest.KeyPress("3"))
	s.m.status.Text = ""
	s.journal.AddBy(tuitest.Ada, protocol.ApprovalResolved, denied)
	s.tell()
	if s.m.status.Text != "" {
		t.Errorf("said %q of one's own decision", s.m.status.Text)
	}
	s = open(t, tuitest.Scenes["approval"](), 100, 30) // but one's own from elsewhere does
	s.quiet()
	s.m.status.Text = ""
	s.journal.AddBy(tuitest.Ada, protocol.ApprovalResolved, denied)
	s.tell()
	if s.m.status.Text != "✗ denied · decided by ada" {
		t.Errorf("said %q of what was decided elsewhere", s.m.status.Text)
	}
}

func TestNothingIsInterruptedWhenNothingRuns(t *testing.T) {
	s := open(t, tuitest.LongSession(1), 80, 24)
	s.run(s.m.startInterrupt())
	if i := s.m.panels.interrupt; s.m.status.Text != "no turn is running" || i.turn != "" || i.sent || i.question != nil {
		t.Errorf("said %q, %+v", s.m.status.Text, i)
	}
	s.askedNothing()
}
