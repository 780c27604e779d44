package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/dashboard"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/task"
)

func TestDashboardFilter(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	d.press("/")
	d.typeText("Doc")
	d.wantText("filter “Doc”", "docs")
	d.wantNoText("release")
	d.typeText("x")
	d.wantText("no session matches the filter")
	d.press("backspace", "enter")
	d.wantText("filter “Doc”")
	d.sendSummaries(
		protocol.Summary{Session: "s9", Name: "docs-2", Status: protocol.Idle, Updated: tuitest.Start},
		protocol.Summary{Session: "s8", Name: "other", Status: protocol.Idle},
	)
	d.wantText("docs-2")
	d.wantNoText("other")
	d.press("esc")
	d.wantText("release", "other")
	d.press("/")
	d.typeText("docs")
	d.press("esc")
	d.wantText("release")
}

func TestDashboardSort(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	first := func() string { return d.p.dashboard.List().At(0).Name }
	for _, want := range []struct{ by, first string }{
		{"need", "release"},
		{"activity", "fix-tests"},
		{"name", "docs"},
		{"cost", "docs"},
		{"created", "docs"},
		{"need", "release"},
	} {
		d.wantText("by " + want.by)
		if got := first(); got != want.first {
			t.Errorf("first session by %s: got %s, want %s", want.by, got, want.first)
		}
		d.press("s")
	}
}

func TestDashboardAppliesSummaries(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	d.press("down", "down")
	selected := d.p.dashboard.Selected()
	asked := tuitest.Start
	d.sendSummaries(
		protocol.Summary{Session: "s3", Deleted: true},
		protocol.Summary{
			Session:   "s1",
			Name:      "docs",
			Status:    protocol.Waiting,
			Approvals: 2,
			Asked:     &asked,
			Updated:   tuitest.Start,
		},
	)
	d.wantText("sessions 4", "? docs", "2 approvals", "1m00s")
	d.wantNoText("release")
	if got := d.p.dashboard.Selected(); got != selected {
		t.Errorf("selected session: got %s, want %s", got, selected)
	}
	d.send(dashboard.SummariesMsg{{Err: errors.New("no route")}})
	d.wantText("no route")
}

func TestDashboardWaitingClock(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	d.wantText("4m00s")
	d.now = d.now.Add(7 * time.Second)
	d.tick()
	d.wantText("4m07s")
	d.sendSummaries(protocol.Summary{Session: "s3", Deleted: true})
	if !d.tick() {
		t.Error("no clock timer with a waiting session on the screen")
	}
	if d.tick() {
		t.Error("the clock timer runs without a waiting session")
	}
}

func TestDashboardCreateSession(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	var requests []protocol.CreateData
	refused := true
	d.server.create = func(d protocol.CreateData) (protocol.CreateResult, error) {
		requests = append(requests, d)
		if refused {
			refusal := &protocol.Error{Code: protocol.CodeNameTaken, Message: "the name is taken"}
			return protocol.CreateResult{}, &remote.AdvisedError{Err: refusal, Advice: "choose another: agentctl ls"}
		}
		return protocol.CreateResult{Session: "s77"}, nil
	}
	d.press("n")
	d.wantText("new session", "→: claude, gemini", "/home/ada")
	d.typeText("fix")
	d.press("tab", "right", "right", "left", "tab", "tab")
	d.typeText("Fix it")
	d.press("enter")
	d.wantText("the name is taken", "choose another: agentctl ls", "Fix it")
	refused = false
	d.press("up", "up", "up")
	d.send(tea.PasteMsg{Content: "-2\x1b[2J"})
	d.press("enter")
	want := protocol.CreateData{
		Name:            "fix-2",
		Agent:           "claude",
		CWD:             "/home/ada",
		Prompt:          "Fix it",
		ClientMessageID: "client-m1",
		Check:           true,
	}
	if len(requests) != 2 || fmt.Sprint(requests[1]) != fmt.Sprint(want) {
		t.Errorf("create requests: got %+v, want 2 with %+v last", requests, want)
	}
	if d.p.sessions.shown == nil || d.p.sessions.shown.id != "s77" {
		t.Error("the created session is not on the screen")
	}
}

func TestDashboardEmpty(t *testing.T) {
	d := newTestDashboard(t, 80, 24)
	d.wantText("There is no session yet", "n creates one", "agentctl new")
	d.press("enter", "y", "X", "R", "p", "down", "f8")
	d.press("n")
	d.wantText("new session")
}

func TestDashboardRenameAndClose(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	d.setPending()
	last := func() string {
		_, commands := d.server.requests()
		if len(commands) == 0 {
			return ""
		}
		return commands[len(commands)-1]
	}
	data := func(session string) any {
		commands := d.server.sessions[session].Commands()
		return commands[len(commands)-1].Data
	}
	d.press("R")
	d.typeText("-2")
	d.press("enter")
	if got := *data("s3").(protocol.RenameData).Name; last() != "s3 rename" || got != "release-2" {
		t.Errorf("got %s with name %q, want s3 rename with release-2", last(), got)
	}
	d.press("down", "down", "X")
	d.wantText("close fix-tests?", "▸ Cancel", "Close, keep the history", "Delete with all history")
	d.press("c", "D", "y", "enter") // Cancel has the focus
	d.wantNoText("close fix-tests?")
	if last() != "s3 rename" {
		t.Errorf("got %s before the confirmation, want none", last())
	}
	d.press("X", "right", "enter")
	if got := data("s2").(protocol.CloseData); last() != "s2 close" || got.Delete {
		t.Errorf("got %s with %+v, want s2 close without Delete", last(), got)
	}
	d.press("X", "right", "right", "enter")
	if got := data("s2").(protocol.CloseData); !got.Delete {
		t.Errorf("got %+v, want Delete", got)
	}
	d.press("end", "X")
	d.wantNoText("Close, keep")
	d.wantText("close old")
	d.sendSummaries(protocol.Summary{Session: "s4", Deleted: true})
	d.wantNoText("close old")
}

// A deleted session whose git worktree has work of its own leaves it there.
func TestDashboardSaysThatAWorktreeStays(t *testing.T) {
	d := newTestDashboard(t, 120, 16, testSummaries()...)
	d.server.reply = func(string, tuitest.Command) (any, error) {
		return protocol.CloseResult{Worktree: "/w/repo-fix", Reason: "1 changed file"}, nil
	}
	d.press("X", "right", "right", "enter")
	d.wantText("the worktree /w/repo-fix stays: 1 changed file")
}

func TestDashboardShowsRefusal(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	d.server.reply = func(string, tuitest.Command) (any, error) { return nil, tuitest.ErrRefused }
	d.press("X", "right", "enter")
	d.wantText(tuitest.ErrRefused.Message)
	d.press("R", "enter")
	d.wantText("rename release", tuitest.ErrRefused.Message)
	d.press("esc", "y")
	d.wantText(tuitest.ErrRefused.Message)
}

// openApproval opens the approval dialog of the first session and waits until it accepts a
// decision.
func (d *testDashboard) openApproval(a protocol.Approval) {
	d.setPending(a)
	d.press("y")
	d.waitGrace()
	d.press("end") // the first key after the request appears is not taken
}

// waitGrace advances time beyond the grace period of the approval dialog.
func (d *testDashboard) waitGrace() {
	d.now = d.now.Add(2 * approval.Grace)
	d.fireGuards()
}

// decisions returns the decisions sent to session s3.
func (d *testDashboard) decisions() []protocol.ApproveData {
	s := d.server.sessions["s3"]
	if s == nil {
		return nil
	}
	var out []protocol.ApproveData
	for _, c := range s.Commands() {
		if data, ok := c.Data.(protocol.ApproveData); ok {
			out = append(out, data)
		}
	}
	return out
}

func TestDashboardApproval(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"y"}, "once"},
		{[]string{"n"}, "no"},
		{[]string{"d"}, "no"},
		{[]string{"1", "enter"}, "once"},
		{[]string{"a", "y"}, "always"},
	} {
		d := newTestDashboard(t, 90, 24, testSummaries()...)
		d.setPending(tuitest.CommandApproval())
		d.press("y")
		d.wantText("approval · release · command", "command ▏ go mod tidy", "in      ▏ /home/ada/store", "a moment …")
		d.press("y", "y")
		d.now = d.now.Add(approval.Grace * 3 / 4)
		d.press("y") // restarts the grace period
		d.now = d.now.Add(approval.Grace * 3 / 4)
		d.fireGuards()
		d.press("y")
		if got := d.decisions(); len(got) != 0 {
			t.Fatalf("decisions within the grace period: got %+v, want none", got)
		}
		d.waitGrace()
		d.wantText("y allow once", "n deny")
		d.press("v")
		d.wantText("go mod tidy", "esc back")
		d.press("q")
		d.press(c.keys...)
		if got := d.decisions(); len(got) != 1 || got[0].Request != "r1" || got[0].Option != c.want {
			t.Errorf("%v: got decisions %+v, want option %s", c.keys, got, c.want)
		}
		d.wantNoText("go mod tidy")
	}
}

func TestDashboardApprovalTakesNoFirstKey(t *testing.T) {
	d := newTestDashboard(t, 90, 24, testSummaries()...)
	d.setPending(tuitest.CommandApproval())
	d.press("y")
	d.waitGrace()
	d.press("y")
	if got := d.decisions(); len(got) != 0 {
		t.Errorf("got decisions %+v from the first key, want none", got)
	}
	d.wantText("the request is new")
	d.press("y")
	if got := d.decisions(); len(got) != 1 {
		t.Errorf("got decisions %+v, want one", got)
	}
}

func TestDashboardApprovalOpensItsSession(t *testing.T) {
	d := newTestDashboard(t, 90, 24, testSummaries()...)
	d.openApproval(tuitest.CommandApproval())
	d.press("o")
	if d.p.sessions.shown == nil || d.p.sessions.shown.id != "s3" {
		t.Error("o does not open the session")
	}
}

func TestDashboardApprovalEditsACommand(t *testing.T) {
	d := newTestDashboard(t, 100, 30, testSummaries()...)
	d.openApproval(editableCommand())
	d.press("p")
	d.wantText("▸ command:", "> go mod tidy")
	d.typeText(" -x")
	d.press("enter")
	d.wantText("edited  ▏ go mod tidy -x", "[x] with the command as edited")
	d.waitGrace()
	d.press("y")
	if got := d.decisions(); len(got) != 1 || got[0].Input == nil || got[0].Input.Command != "go mod tidy -x" {
		t.Errorf("got decisions %+v", got)
	}

	tabs := editableCommand()
	tabs.Command = "cat <<-A\n\tone\nA"
	d = newTestDashboard(t, 100, 30, testSummaries()...)
	d.openApproval(tabs)
	d.press("p")
	d.wantText("open the session to edit this in your editor")
}

func TestDashboardApprovalTakesClicks(t *testing.T) {
	d := newTestDashboard(t, 100, 30, testSummaries()...)
	click := func(text string) {
		t.Helper()
		for y, line := range strings.Split(d.screen(), "\n") {
			if strings.Contains(line, text) {
				d.send(tea.MouseClickMsg{X: 5, Y: y, Button: tea.MouseLeft})
				return
			}
		}
		t.Fatalf("no %q:\n%s", text, d.screen())
	}
	d.setPending(tuitest.CommandApproval())
	d.press("y")
	click("1 Allow once")
	click("1 Allow once")
	if got := d.decisions(); len(got) > 0 {
		t.Fatalf("a click decides a new request: %+v", got)
	}
	d.waitGrace()
	click("3 Deny")
	d.wantText("▸ 3 Deny")
	click("3 Deny")
	if got := d.decisions(); len(got) != 1 || got[0].Option != "no" {
		t.Errorf("got decisions %+v", got)
	}
}

func TestDashboardApprovalTakesAReason(t *testing.T) {
	d := newTestDashboard(t, 90, 24, testSummaries()...)
	d.openApproval(tuitest.CommandApproval())
	d.press("r")
	d.typeText("no y2k")
	d.press("enter", "n")
	if got := d.decisions(); len(got) != 1 || got[0].Option != "no" || got[0].Reason != "no y2k" {
		t.Errorf("got decisions %+v, want a denial with the reason", got)
	}
}

func TestDashboardApprovalOffersOnlyItsDecisions(t *testing.T) {
	for key, c := range map[string]struct {
		kind        protocol.Decision
		hint, never string
		want        string
	}{
		"y": {protocol.Deny, "n deny", "y allow once", "does not take “allow once”; it takes: deny"},
		"n": {protocol.AllowOnce, "y allow once", "n deny", "does not take “deny”; it takes: allow once"},
	} {
		d := newTestDashboard(t, 120, 24, testSummaries()...)
		a := tuitest.CommandApproval()
		a.Options = []protocol.Option{{ID: "x", Kind: c.kind, Label: "The one"}}
		d.openApproval(a)
		d.wantText(c.hint, "▏ The one")
		d.wantNoText(c.never)
		d.press(key)
		d.wantText(c.want)
		if got := d.decisions(); len(got) > 0 {
			t.Errorf("%s: got decisions %+v, want none", key, got)
		}
	}
}

// A request that cannot be allowed, denied or decided at all takes any key.
func TestDashboardApprovalWithoutAllowOrDeny(t *testing.T) {
	for _, kinds := range [][]protocol.Decision{
		{}, {protocol.Deny}, {protocol.AllowOnce}, {protocol.Explain}, {protocol.AllowAlways},
	} {
		request := tuitest.CommandApproval()
		request.Options = []protocol.Option{}
		for _, kind := range kinds {
			request.Options = append(request.Options, protocol.Option{ID: string(kind), Kind: kind, Label: "x"})
		}
		d := newTestDashboard(t, 80, 24, testSummaries()...)
		d.openApproval(request)
		for _, key := range strings.Fields("y d n a 1 9 enter home enter end enter alt+1 tab esc") {
			d.press(key)
			d.waitGrace()
			_ = d.p.View()
		}
		for _, data := range d.decisions() {
			if !slices.Contains(kinds, data.Decision) && !slices.Contains(kinds, protocol.Decision(data.Option)) {
				t.Errorf("of %v, decided %+v", kinds, data)
			}
		}
	}
}

func TestDashboardApprovalSentOnce(t *testing.T) {
	d := newTestDashboard(t, 90, 24, testSummaries()...)
	d.openApproval(tuitest.CommandApproval())
	_, cmd := d.p.Update(tuitest.KeyPress("y"))
	d.wantText("sending: Allow once …")
	d.press("d", "y", "1", "enter")
	d.wantText("sending: Allow once …")
	d.run(cmd)
	if got := d.decisions(); len(got) != 1 || got[0].Option != "once" {
		t.Errorf("got decisions %+v, want one, option once", got)
	}
	d.wantNoText("go mod tidy")
}

func TestDashboardApprovalConflict(t *testing.T) {
	d := newTestDashboard(t, 120, 24, testSummaries()...)
	d.openApproval(tuitest.CommandApproval())
	d.server.reply = func(string, tuitest.Command) (any, error) {
		return nil, &protocol.Error{
			Code:    protocol.CodeConflict,
			Message: "too late",
			Winner:  &protocol.Winner{By: tuitest.Bob},
		}
	}
	d.press("y")
	d.wantText("too late · decided by bob")
	d.sendSummaries(protocol.Summary{Session: "s3", Name: "release", Status: protocol.Running, Updated: tuitest.Start})
	d.wantNoText("go mod tidy")
	d.wantText("decided meanwhile")
}

// The keys of a reason or a comment do not act on the list when the request is decided elsewhere.
func TestTypingAboutARequestGoesOnWhenItIsDecidedElsewhere(t *testing.T) {
	for name, request := range map[string]protocol.Approval{
		"a reason": tuitest.CommandApproval(), "a comment": twelveFiles(),
	} {
		d := newTestDashboard(t, 120, 24, testSummaries()...)
		d.openApproval(request)
		if name == "a comment" {
			d.press("v", "J", "c")
		} else {
			d.press("r")
		}
		d.typeText("not ")
		decided := protocol.Summary{Session: "s3", Name: "release", Status: protocol.Running, Updated: tuitest.Start}
		d.sendSummaries(decided)
		d.typeText("in Xmas")
		d.wantText("not in Xmas")
		d.wantText("it was decided meanwhile · esc closes, the text is kept")
		d.press("enter")
		d.wantText("it was decided meanwhile · your text is in the message box of release")
		d.wantNoText("not in Xmas")
		if got := d.p.sessions.drafts.Load("s3").Text; !strings.HasSuffix(got, "not in Xmas") {
			t.Errorf("%s: got the unsent message %q", name, got)
		}
		if got := d.decisions(); len(got) != 0 {
			t.Errorf("%s: got decisions %+v, want none", name, got)
		}
	}
}

// The key that starts a text is the first one after the request appeared: the text decides nothing.
func TestATextAboutANewRequestDecidesNothing(t *testing.T) {
	for _, key := range []string{"r", "p"} {
		d := newTestDashboard(t, 120, 24, testSummaries()...)
		d.setPending(tuitest.CommandApproval())
		d.press("y")
		d.waitGrace()
		d.press(key)
		d.typeText("any day")
		if got := d.decisions(); len(got) != 0 {
			t.Errorf("after %q: got decisions %+v, want none", key, got)
		}
		if key == "r" {
			d.wantText("reason: any day")
			d.wantNoText("o open the session")
		}
	}
}

// A reason is offered again in the next dialog of the same request. If that is decided meanwhile,
// the reason is in the message box.
func TestAReasonStaysWhenTheDialogIsLeft(t *testing.T) {
	for _, leave := range []string{"esc", "o"} {
		d := newTestDashboard(t, 120, 24, testSummaries()...)
		d.openApproval(tuitest.CommandApproval())
		d.press("r")
		d.typeText("not in Xmas")
		d.press("enter", leave)
		if leave == "o" {
			d.press("f2")
		}
		d.wantNoText("not in Xmas")
		d.press("y")
		d.wantText("reason: ▏ not in Xmas")
		d.press("n", "n")
		if got := d.decisions(); len(got) != 0 {
			t.Errorf("got decisions %+v at once after the dialog appeared again", got)
		}
		d.press("esc")
		decided := protocol.Summary{Session: "s3", Name: "release", Status: protocol.Running, Updated: tuitest.Start}
		d.sendSummaries(decided)
		d.wantText("your text is in the message box of release")
		waiting := testSummaries()[2]
		waiting.Session, waiting.Asked = "s3", &tuitest.Start
		d.sendSummaries(waiting)
		d.press("y")
		d.wantNoText("not in Xmas")
	}
}

// A reason whose decision came too late goes on in the message box, also that of an open session.
func TestAReasonThatCameTooLateIsKept(t *testing.T) {
	for _, opened := range []bool{false, true} {
		d := newTestDashboard(t, 120, 24, testSummaries()...)
		if opened {
			d.press("enter", "f2")
		}
		d.openApproval(tuitest.CommandApproval())
		d.press("r")
		d.typeText("not in Xmas")
		d.press("enter")
		d.server.reply = func(string, tuitest.Command) (any, error) {
			s := protocol.Summary{Session: "s3", Name: "release", Status: protocol.Running, Updated: tuitest.Start}
			d.sendSummaries(s)
			return nil, &protocol.Error{Code: protocol.CodeConflict, Message: "too late"}
		}
		d.waitGrace()
		d.press("n")
		d.wantText("too late · your text is in the message box of release")
		d.press("enter")
		if !opened {
			if got := d.p.sessions.drafts.Load("s3").Text; got != "not in Xmas" {
				t.Errorf("got the unsent message %q", got)
			}
			continue
		}
		d.wantText("> not in Xmas")
	}
}

func TestDashboardOpensSessionForComplexApproval(t *testing.T) {
	question := []protocol.Question{{ID: "q", Text: "?"}}
	for name, pending := range map[string][]protocol.Approval{
		"a question": {{Request: "r", Kind: protocol.ApproveQuestion, Questions: question}},
		"a plan":     {{Request: "r", Kind: protocol.ApprovePlan, Tasks: []protocol.Task{{ID: "t"}}}},
		"several":    {tuitest.CommandApproval(), tuitest.CommandApproval()},
	} {
		d := newTestDashboard(t, 90, 24, testSummaries()...)
		d.setPending(pending...)
		d.press("y")
		if d.p.sessions.shown == nil || d.p.sessions.shown.id != "s3" {
			t.Errorf("%s does not open the session", name)
		}
	}
	d := newTestDashboard(t, 90, 24, testSummaries()...)
	several := testSummaries()[2]
	several.Approvals = 2
	d.sendSummaries(several)
	d.press("d")
	if d.p.sessions.shown == nil {
		t.Error("a session with two approvals is not opened")
	}
	d = newTestDashboard(t, 90, 24, testSummaries()...)
	d.setPending()
	d.press("y")
	d.wantText("decided meanwhile")
	d.press("down", "down", "y")
	d.wantText("fix-tests has no request")
}

func TestPreviewReloadsAfterChange(t *testing.T) {
	d := newTestDashboard(t, 140, 30, testSummaries()...)
	d.setPending()
	loads := func() int { subscriptions, _ := d.server.requests(); return len(subscriptions) }
	d.press("p")
	d.wantText(
		"preview · release",
		"edit pkg/store/store.go",
		"Push the tags.",
		"They are right.",
		"Tidy the module",
		"+1 queued message",
	)
	loaded, commands := d.server.requests()
	if len(loaded) != 1 || !slices.Equal(commands, []string{"s3 history"}) {
		t.Errorf("got previews %v, commands %v, want 1 preview and s3 history", loaded, commands)
	}
	changed := testSummaries()[2]
	d.sendSummaries(changed)
	changed.Seq = 7
	d.sendSummaries(changed)
	if loads() != 1 {
		t.Errorf("got %d previews, want 1 within 500 ms", loads())
	}
	d.now = d.now.Add(500 * time.Millisecond)
	d.sendSummaries(changed)
	// The last turn is known: it needs no second history command.
	if loaded, commands = d.server.requests(); len(loaded) != 2 || len(commands) != 1 {
		t.Errorf("got previews %v, commands %v, want 2 and 1", loaded, commands)
	}
	d.press("down")
	d.wantText("preview · s5xyz7")
	d.now = d.now.Add(500 * time.Millisecond)
	d.press("down")
	d.wantText("preview · fix-tests")
	if got, _ := d.server.requests(); !slices.Equal(got, []string{"s3", "s3", "s5xyz789", "s2"}) {
		t.Errorf("got previews %v, want s3, s3, s5xyz789, s2", got)
	}
	d.now = d.now.Add(2 * time.Second)
	d.send(struct{}{})
	if loads() != 5 {
		t.Errorf("got %d previews, want 5 after 2 s of a running turn", loads())
	}
	d.press("p", "down")
	if loads() != 5 {
		t.Errorf("got %d previews, want 5 with the preview closed", loads())
	}
	if got := d.server.subscribed(); len(got) != 0 {
		t.Errorf("got subscriptions to %v, want none", got)
	}
}

func TestPreviewShowsError(t *testing.T) {
	d := newTestDashboard(t, 80, 24, testSummaries()...)
	d.server.journal = func(string) *tuitest.Journal {
		j := &tuitest.Journal{}
		j.Conn(remote.Conn{State: remote.Offline, Reason: "no such session"})
		return j
	}
	d.press("p")
	d.wantText("no such session")
	d.setPending()
	d.send(dashboard.ConnMsg{State: remote.Connected})
	d.wantText("They are right.")
}

func TestPreviewOfOpenSessionIsLive(t *testing.T) {
	d := newTestDashboard(t, 140, 30, testSummaries()...)
	d.press("enter")
	o := d.p.sessions.shown
	d.press("f2", "p")
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "question")
	j.Text("t", "the answer so far")
	j.CaughtUp()
	d.send(task.Message{To: o, Msg: j.Take()})
	d.wantText("preview · release", "the answer so far")
	if loaded, _ := d.server.requests(); len(loaded) > 1 {
		t.Errorf("got subscriptions %v, want at most 1", loaded)
	}
}

func TestPreviewShowsEndOfScrolledSession(t *testing.T) {
	d := newTestDashboard(t, 140, 30, testSummaries()...)
	d.press("enter")
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "the question")
	for i := range 60 {
		j.Text(fmt.Sprint("t", i), fmt.Sprintf("line %d of the answer", i))
	}
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	d.send(task.Message{To: d.p.sessions.shown, Msg: j.Take()})
	d.press("pgup")
	d.wantNoText("line 59 of the answer")
	d.press("f2", "p")
	d.wantText("line 59 of the answer")
	d.press("enter")
	d.wantNoText("line 59 of the answer")
}

func TestNextPendingVisitsAllAndReturns(t *testing.T) {
	for _, from := range []string{"", "at once", "s1"} {
		d := newTestDashboard(t, 90, 16, testSummaries()...)
		held := protocol.Summary{
			Session: "s6",
			Name:    "held",
			Status:  protocol.Idle,
			Updated: tuitest.Start,
			Queue:   1,
			Held:    true,
		}
		d.sendSummaries(held)
		if from == "" {
			d.press("down", "down")
		}
		selected := d.p.dashboard.Selected()
		if from == "at once" {
			from = ""
		}
		if from != "" {
			d.run(d.p.open(from))
		}
		origin := d.p.sessions.find(from)
		for _, want := range []string{"s3", "s6", "s5xyz789"} {
			d.press("f8")
			if d.p.sessions.shown == nil || d.p.sessions.shown.id != want {
				t.Fatalf("from %q: got session %+v, want %s", from, d.p.sessions.shown, want)
			}
		}
		d.press("f8")
		switch {
		case from == "" && (d.p.sessions.shown != nil || d.p.dashboard.Selected() != selected):
			t.Error("the walk does not return to the dashboard with its selection")
		case from != "" && (d.p.sessions.shown == nil || d.p.sessions.shown.id != from):
			t.Errorf("the walk does not return to session %s", from)
		}
		d.wantText("no other session needs you")
		if from != "" && d.p.sessions.shown != origin {
			t.Error("the session at the start of the walk was closed")
		}
		if d.p.dashboard.List().Need("s5xyz789") != 0 {
			t.Error("a seen failure still needs the user")
		}
	}
}

func TestAdHocAgentName(t *testing.T) {
	for agent, want := range map[string]string{
		"claude":                       "claude",
		"script:/home/ada/work.script": "work.script",
		"acp:/usr/bin/my-agent --acp":  "my-agent",
		"acp:":                         "",
	} {
		if got := describe.Agent(agent); got != want {
			t.Errorf("name of agent %q: got %q, want %q", agent, got, want)
		}
	}
}

func TestDashboardMouse(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	d.p.mouse.enabled = true
	click := func(x, y int) { d.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }
	click(3, 7)
	if got := d.p.dashboard.Selected(); got != "s2" {
		t.Errorf("selected by a click: got %s, want s2", got)
	}
	for _, y := range []int{0, 1, 2, 13} { // the title, the columns, a group, no row
		click(3, y)
	}
	d.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	if got := d.p.dashboard.Selected(); got != "s4" {
		t.Errorf("selected by the wheel: got %s, want s4", got)
	}
	click(3, 7)
	click(3, 7)
	if d.p.sessions.shown == nil || d.p.sessions.shown.id != "s2" {
		t.Error("a click on the selected session does not open it")
	}
}

func TestDeletedSessionStaysUntilHidden(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	d.press("enter")
	d.sendSummaries(protocol.Summary{Session: "s3", Deleted: true})
	if d.p.sessions.shown == nil {
		t.Fatal("the deleted session is no longer on the screen")
	}
	d.press("f2")
	if len(d.p.sessions.all) != 0 {
		t.Error("the deleted session is still open after it was hidden")
	}
	d.press("esc")
	if d.p.sessions.shown != nil {
		t.Error("the deleted session is shown again")
	}
}

func TestOpenSessionsCloseLeastRecentlyShown(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	var open []string
	for _, c := range []struct{ enter, open string }{
		{"s1", "s1"},
		{"s2", "s2 s1"},
		{"s3", "s3 s2 s1"},
		{"s1", "s1 s3 s2"},
		{"s1", "s1 s3 s2"},
		{"s4", "s4 s1 s3"},
		{"s2", "s2 s4 s1"},
	} {
		d.run(d.p.open(c.enter))
		open = open[:0]
		for _, o := range d.p.sessions.all {
			open = append(open, o.id)
			if o.view.Hidden() != (o != d.p.sessions.shown) {
				t.Errorf("session %s hidden: got %v, want %v", o.id, o.view.Hidden(), o != d.p.sessions.shown)
			}
		}
		got := strings.Join(open, " ")
		if got != c.open || d.p.sessions.shown.id != c.enter || d.p.dashboard.Selected() != c.enter {
			t.Errorf("open sessions after %s: got %s, want %s", c.enter, got, c.open)
		}
	}
}

func TestOpenSessionsLimit(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	if p := testBuilder(t.Context(), Options{Keep: 5}, nil, nil).newDashboard(d.server, ""); p.sessions.keep != 5 {
		t.Errorf("maximum of open sessions: got %d, want 5", p.sessions.keep)
	}
	d.p.sessions.keep = 1
	for _, id := range []string{"s1", "s2", "s3"} {
		d.run(d.p.open(id))
	}
	if len(d.p.sessions.all) != 1 || d.p.sessions.all[0].id != "s3" {
		t.Errorf("got %d open sessions, want s3 only", len(d.p.sessions.all))
	}
}

func TestDashboardHelp(t *testing.T) {
	d := newTestDashboard(t, 90, 60, testSummaries()...)
	d.press("?")
	d.wantText(" Sessions\n", "show the pending request")
	d.press("q")
	d.wantText("release")
}

func TestDashboardConnectionState(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	d.send(dashboard.ConnMsg{State: remote.Reconnecting, Retry: d.now.Add(3 * time.Second)})
	d.wantText("reconnecting in 3s")
	d.press("f5")
	if d.wantNoText("reconnecting"); d.server.retries != 1 {
		t.Errorf("got %d retries, want 1", d.server.retries)
	}
	d.send(dashboard.ConnMsg{State: remote.Offline, Reason: "forbidden\x1b[2J, says the server"})
	d.wantText("offline: forbidden")
	d.send(dashboard.ConnMsg{State: remote.Connected})
	d.wantNoText("offline")
}

// TestDashboardUpdateCostIsIndependentOfSessions compares the allocations of an update with 100 and
// with 10,000 sessions.
func TestDashboardUpdateCostIsIndependentOfSessions(t *testing.T) {
	cost := func(n int) float64 {
		d := newTestDashboard(t, 120, 40)
		session := func(i int) protocol.Summary {
			at := tuitest.Start.Add(time.Duration(i) * time.Second)
			s := protocol.Summary{
				Session: fmt.Sprintf("s%05d", i),
				Name:    fmt.Sprint("session ", i),
				Agent:   "gemini",
				Status:  protocol.Running,
				Turn:    "t",
				Updated: at,
			}
			if i%3 == 0 {
				s.Status, s.Asked, s.Approvals = protocol.Waiting, &at, 1
			}
			return s
		}
		all := make([]protocol.Summary, n)
		for i := range all {
			all[i] = session(i)
		}
		d.sendSummaries(all...)
		i := 0
		return testing.AllocsPerRun(50, func() {
			i++
			s := session(i * 7 % n)
			s.Updated = s.Updated.Add(time.Hour)
			d.sendSummaries(s)
			d.press("down")
		})
	}
	few, many := cost(100), cost(10_000)
	if many > few*1.2 {
		t.Errorf("allocations of an update: got %v with 10,000 sessions, %v with 100", many, few)
	}
}

func TestDashboardEscapesHostileText(t *testing.T) {
	evil := "\x1b[2J\x1b]0;owned\a\u009b\u202e"
	d := newTestDashboard(t, 140, 30, protocol.Summary{
		Session:   "s1" + evil,
		Name:      "n" + evil,
		Title:     "t" + evil,
		Agent:     "a" + evil,
		CWD:       "/" + evil,
		Doing:     "d" + evil,
		Status:    protocol.Waiting,
		Approvals: 1,
	})
	hostile := tuitest.CommandApproval()
	hostile.Title, hostile.Command = "x"+evil, "y"+evil
	d.setPending(hostile)
	for _, key := range []string{"", "p", "y", "v", "q", "esc", "X", "esc", "R", "esc", "/"} {
		if key != "" {
			d.press(key)
		}
		view := d.p.View()
		for _, bad := range []string{"\x1b[2J", "\x1b]", "\u009b", "\a", "\u202e"} {
			if strings.Contains(view.Content+view.WindowTitle, bad) {
				t.Fatalf("after %q: got %q on the screen", key, bad)
			}
		}
	}
}

func TestDashboardProperties(t *testing.T) {
	keys := rapid.SampledFrom([]string{
		"up", "down", "home", "end", "pgdown", "/", "s", "space", "p", "n", "R", "X", "D", "c", "y", "d", "v", "?",
		"esc", "esc", "enter", "f2", "f8", "tab", "right", "x", "漢", "backspace",
	})
	long := strings.Repeat("long ", 30)
	words := rapid.SampledFrom([]string{"", "a", "b\x1b[2J", "漢字", "👩‍🚀", "x\ny", "\u202ez", long})
	ids := rapid.SampledFrom([]string{"s1", "s2", "s3", "s4\x1b[2J"})
	statuses := rapid.SampledFrom([]protocol.Status{
		protocol.Idle, protocol.Running, protocol.Waiting, protocol.Closed, "odd",
	})
	rapid.Check(t, func(rt *rapid.T) {
		d := newTestDashboard(t, 60, 16)
		d.setPending(tuitest.CommandApproval())
		width, height := 60, 16
		rt.Repeat(map[string]func(*rapid.T){
			"session": func(rt *rapid.T) {
				d.sendSummaries(protocol.Summary{
					Session:   ids.Draw(rt, "session"),
					Name:      words.Draw(rt, "name"),
					Title:     words.Draw(rt, "title"),
					Agent:     words.Draw(rt, "agent"),
					CWD:       words.Draw(rt, "cwd"),
					Doing:     words.Draw(rt, "doing"),
					Reason:    protocol.Reason(words.Draw(rt, "reason")),
					Status:    statuses.Draw(rt, "status"),
					Queue:     rapid.IntRange(0, 2).Draw(rt, "queue"),
					Approvals: rapid.IntRange(0, 2).Draw(rt, "approvals"),
					Held:      rapid.Bool().Draw(rt, "held"),
					Progress:  protocol.Progress{Percent: rapid.Float64Range(-10, 1e9).Draw(rt, "percent")},
					Seq:       uint64(rapid.IntRange(0, 5).Draw(rt, "seq")),
					Deleted:   rapid.IntRange(0, 4).Draw(rt, "deleted") == 0,
				})
			},
			"key":   func(rt *rapid.T) { d.press(keys.Draw(rt, "key")) },
			"paste": func(*rapid.T) { d.send(tea.PasteMsg{Content: "a\nb\x1b[2J"}) },
			"quiet": func(*rapid.T) {
				d.now = d.now.Add(3 * time.Second)
				d.fireGuards()
			},
			"size": func(rt *rapid.T) {
				width, height = rapid.IntRange(1, 150).Draw(rt, "width"), rapid.IntRange(1, 30).Draw(rt, "height")
				d.send(tea.WindowSizeMsg{Width: width, Height: height})
			},
			"": func(rt *rapid.T) {
				content := d.p.View().Content
				lines := strings.Split(content, "\n")
				if len(lines) > height {
					rt.Fatalf("got %d rows, want at most %d", len(lines), height)
				}
				for _, line := range lines {
					if ansi.StringWidth(line) > width {
						rt.Fatalf("got a row of %d cells, want at most %d: %q", ansi.StringWidth(line), width, line)
					}
				}
				bare := ansi.Strip(content)
				if strings.ContainsAny(bare, "\x1b\u202e\u009b") || strings.Contains(content, "\x1b[2J") {
					rt.Fatalf("got a control sequence on the screen: %q", content)
				}
				got := d.p.dashboard.Selected()
				if d.p.sessions.shown == nil && got != "" && d.p.dashboard.List().Index(got) < 0 {
					rt.Fatalf("got selection %q, want a listed session", got)
				}
			},
		})
	})
}

func TestDashboardOutageAdvice(t *testing.T) {
	d := newTestDashboard(t, 100, 12)
	d.send(dashboard.ConnMsg{State: remote.Reconnecting, Attempt: 2, Advice: "start one with: agentctl serve"})
	d.wantText("F5 tries again now · start one with: agentctl serve")
}

func TestPreviewListsPlan(t *testing.T) {
	d := newTestDashboard(t, 140, 40, testSummaries()...)
	// The session starts empty.
	d.server.journal = func(string) *tuitest.Journal { return &tuitest.Journal{At: tuitest.Start} }
	d.press("enter")
	d.send(task.Message{To: d.p.sessions.shown, Msg: remote.Updates(tuitest.Scenes["pipeline"]().Take())})
	d.wantText("plan 1/4", "· Sum up")
	d.press("f2", "p")
	d.wantText("preview", "· Sum up")
	d.press("enter")
	if n := strings.Count(d.screen(), "· Sum up"); n != 1 {
		t.Errorf("got the plan item %d times, want once:\n%s", n, d.screen())
	}
}

func TestDashboardKeysBeforeSize(t *testing.T) {
	for _, key := range []string{"f1", "f7", "ctrl+f", "n", "/", "R", "X", "p"} {
		d := newTestDashboard(t, 80, 24, testSummaries()...)
		d.p.dashboard.Update(tea.WindowSizeMsg{})
		d.press(key)
	}
}
