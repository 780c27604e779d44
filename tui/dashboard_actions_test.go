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

	"agentctl/internal/tuitest"
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
		protocol.Summary{Session: "s9", Name: "docs-2", Status: protocol.Idle, Updated: tuitest.Dawn},
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
	for _, want := range []struct{ by, first string }{{"need", "release"}, {"activity", "fix-tests"}, {"name", "docs"}, {"agent", "docs"}, {"context", "fix-tests"}, {"need", "release"}} {
		d.wantText("by " + want.by)
		if got := first(); got != want.first {
			t.Errorf("by %s %s comes first, want %s", want.by, got, want.first)
		}
		d.press("s")
	}
}

func TestDashboardAppliesSummaries(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	d.press("down", "down")
	chosen := d.p.dashboard.Selected()
	asked := tuitest.Dawn
	d.sendSummaries(
		protocol.Summary{Session: "s3", Deleted: true},
		protocol.Summary{
			Session:   "s1",
			Name:      "docs",
			Status:    protocol.Waiting,
			Approvals: 2,
			Asked:     &asked,
			Updated:   tuitest.Dawn,
		},
	)
	d.wantText("sessions · 4", "2 approvals 1m00s")
	d.wantNoText("release")
	if d.p.dashboard.Selected() != chosen {
		t.Error("what was chosen is not any more")
	}
	d.send(dashboard.SummariesMsg{{Err: errors.New("no route")}})
	d.wantText("no route")
}

func TestDashboardWaitingClock(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	d.wantText("approval 4m00s")
	d.now = d.now.Add(7 * time.Second)
	d.tick()
	d.wantText("approval 4m07s")
	d.sendSummaries(protocol.Summary{Session: "s3", Deleted: true})
	if !d.tick() {
		t.Error("the clock stands still")
	}
	if d.tick() {
		t.Error("a clock runs that nobody sees")
	}
}

func TestDashboardCreateSession(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	var asked []protocol.CreateData
	refused := true
	d.server.create = func(d protocol.CreateData) (protocol.CreateResult, error) {
		asked = append(asked, d)
		if refused {
			return protocol.CreateResult{}, &protocol.Error{Code: protocol.CodeNameTaken, Message: "the name is taken"}
		}
		return protocol.CreateResult{Session: "s77"}, nil
	}
	d.press("n")
	d.wantText("new session", "→: claude, gemini", "/home/ada")
	d.typeText("fix")
	d.press("tab", "right", "right", "left", "tab", "tab")
	d.typeText("Fix it")
	d.press("enter")
	d.wantText("the name is taken", "Fix it")
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
	}
	if len(asked) != 2 || fmt.Sprint(asked[1]) != fmt.Sprint(want) {
		t.Errorf("asked for %+v, want %+v", asked, want)
	}
	if d.p.sessions.shown == nil || d.p.sessions.shown.id != "s77" {
		t.Error("the answer does not open it")
	}
}

func TestDashboardEmpty(t *testing.T) {
	d := newTestDashboard(t, 80, 24)
	d.wantText("There is no session yet", "n creates one", "agentctl new")
	d.press("enter", "y", "X", "R", "space", "down", "f8")
	d.press("n")
	d.wantText("new session")
}

func TestDashboardRenameAndClose(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	d.setPending()
	last := func() string {
		_, asked := d.server.requests()
		if len(asked) == 0 {
			return ""
		}
		return asked[len(asked)-1]
	}
	data := func(session string) any { c := d.server.sessions[session].Commands(); return c[len(c)-1].Data }
	d.press("R")
	d.typeText("-2")
	d.press("enter")
	if got := *data("s3").(protocol.RenameData).Name; last() != "s3 rename" || got != "release-2" {
		t.Errorf("asked %s with %q", last(), got)
	}
	d.press("down", "X")
	d.wantText("close fix-tests?", "c close", "D delete")
	d.press("x", "enter", "esc")
	d.wantNoText("close fix-tests?")
	if last() != "s3 rename" {
		t.Errorf("asked %s without an answer", last())
	}
	d.press("X", "c")
	if got := data("s2").(protocol.CloseData); last() != "s2 close" || got.Delete {
		t.Errorf("asked %s with %+v", last(), got)
	}
	d.press("X", "D")
	if got := data("s2").(protocol.CloseData); !got.Delete {
		t.Errorf("asked with %+v", got)
	}
	d.press("end", "X")
	d.wantNoText("c close")
	d.press("c")
	d.wantText("close old")
	d.sendSummaries(protocol.Summary{Session: "s4", Deleted: true})
	d.wantNoText("close old")
}

func TestDashboardShowsRefusal(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	d.server.reply = func(string, tuitest.Asking) (any, error) { return nil, tuitest.ErrRefused }
	d.press("X", "c")
	d.wantText(tuitest.ErrRefused.Message)
	d.press("R", "enter")
	d.wantText("rename release", tuitest.ErrRefused.Message)
	d.press("esc", "y")
	d.wantText(tuitest.ErrRefused.Message)
}

func TestDashboardApproval(t *testing.T) {
	for key, want := range map[string]string{"y": "once", "d": "no"} {
		d := newTestDashboard(t, 90, 24, testSummaries()...)
		d.setPending(tuitest.Tidy())
		d.press(key)
		d.wantText("approval · release · command", "$ go mod tidy", "in /home/ada/store", "a moment …")
		d.press(key, key)
		if got := d.server.sessions["s3"].Commands(); len(got) != 1 {
			t.Fatalf("decided by keys that were in flight: %+v", got)
		}
		d.now = d.now.Add(approval.Grace * 3 / 4)
		d.press(key) // starts the silence anew
		d.now = d.now.Add(approval.Grace * 3 / 4)
		d.fireGuards()
		d.press(key)
		if got := d.server.sessions["s3"].Commands(); len(got) != 1 {
			t.Fatalf("decided after too short a silence: %+v", got)
		}
		d.now = d.now.Add(2 * approval.Grace)
		d.fireGuards()
		d.wantText("y allow once", "d deny")
		d.press("v")
		d.wantText("go mod tidy", "esc back")
		d.press("q", key)
		c := d.server.sessions["s3"].Commands()
		if got, ok := c[len(c)-1].Data.(protocol.ApproveData); !ok || got.Request != "r1" || got.Option != want {
			t.Errorf("%s decided %+v, want option %s", key, c, want)
		}
		d.wantNoText("$ go mod tidy")
	}
}

func TestDashboardApprovalSentOnce(t *testing.T) {
	d := newTestDashboard(t, 90, 24, testSummaries()...)
	d.setPending(tuitest.Tidy())
	d.press("y")
	d.now = d.now.Add(2 * approval.Grace)
	d.fireGuards()
	_, cmd := d.p.Update(tuitest.Press("y"))
	d.wantText("sending: Allow once …")
	d.press("d", "y", "v")
	d.wantText("sending: Allow once …")
	d.run(cmd)
	decided := 0
	for _, c := range d.server.sessions["s3"].Commands() {
		if d, ok := c.Data.(protocol.ApproveData); ok {
			if decided++; d.Option != "once" {
				t.Errorf("decided %+v", d)
			}
		}
	}
	if decided != 1 {
		t.Errorf("decided %d times", decided)
	}
	d.wantNoText("$ go mod tidy")
}

func TestDashboardApprovalNeedsRoom(t *testing.T) {
	d := newTestDashboard(t, 60, 5, testSummaries()...)
	d.setPending(tuitest.Tidy())
	d.press("y")
	d.now = d.now.Add(2 * approval.Grace)
	d.fireGuards()
	before := len(d.server.sessions["s3"].Commands())
	d.press("y")
	d.wantText("in /home/ada/store", "esc back")
	if got := d.server.sessions["s3"].Commands()[before:]; len(got) > 0 {
		t.Errorf("decided %+v", got)
	}
}

func TestDashboardApprovalConflict(t *testing.T) {
	d := newTestDashboard(t, 120, 24, testSummaries()...)
	d.setPending(tuitest.Tidy())
	d.press("y")
	d.now = d.now.Add(2 * approval.Grace)
	d.fireGuards()
	d.server.reply = func(string, tuitest.Asking) (any, error) {
		return nil, &protocol.Error{
			Code:    protocol.CodeConflict,
			Message: "too late",
			Winner:  &protocol.Winner{By: tuitest.Bob},
		}
	}
	d.press("y")
	d.wantText("too late · decided by bob")
	d.sendSummaries(protocol.Summary{Session: "s3", Name: "release", Status: protocol.Running, Updated: tuitest.Dawn})
	d.wantNoText("$ go mod tidy")
	d.wantText("decided meanwhile")
}

func TestDashboardOpensSessionForComplexApproval(t *testing.T) {
	for name, pending := range map[string][]protocol.Approval{
		"a question": {{Request: "r", Kind: protocol.ApproveQuestion, Questions: []protocol.Question{{ID: "q", Text: "?"}}}},
		"a plan":     {{Request: "r", Kind: protocol.ApprovePlan, Tasks: []protocol.Task{{ID: "t"}}}},
		"several":    {tuitest.Tidy(), tuitest.Tidy()},
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
		t.Error("two approvals do not open the session")
	}
	d = newTestDashboard(t, 90, 24, testSummaries()...)
	d.setPending()
	d.press("y")
	d.wantText("decided meanwhile")
	d.press("down", "y")
	d.wantText("fix-tests has no request")
}

func TestPreviewReloadsAfterChange(t *testing.T) {
	d := newTestDashboard(t, 140, 30, testSummaries()...)
	d.setPending()
	looks := func() int { looked, _ := d.server.requests(); return len(looked) }
	d.press("space")
	d.wantText(
		"preview · release",
		"hundred runs pass now",
		"Push the tags.",
		"They are right.",
		"Tidy the module",
		"+1 queued message",
	)
	if looked, asked := d.server.requests(); len(looked) != 1 || !slices.Equal(asked, []string{"s3 history"}) {
		t.Errorf("looked %v, asked %v", looked, asked)
	}
	changed := testSummaries()[2]
	d.sendSummaries(changed)
	changed.Seq = 7
	d.sendSummaries(changed)
	if looks() != 1 {
		t.Error("looked for nothing, and too soon")
	}
	d.now = d.now.Add(500 * time.Millisecond)
	d.sendSummaries(changed)
	if looked, asked := d.server.requests(); len(looked) != 2 || len(asked) != 1 {
		t.Errorf("looked %v, asked %v: the last turn is known", looked, asked)
	}
	d.press("down")
	d.wantText("preview · fix-tests")
	if got, _ := d.server.requests(); !slices.Equal(got, []string{"s3", "s3", "s2"}) {
		t.Errorf("looked %v", got)
	}
	d.now = d.now.Add(2 * time.Second)
	d.send(struct{}{})
	if looks() != 4 {
		t.Error("a turn that runs is not looked at again")
	}
	d.press("space", "down")
	if looks() != 4 {
		t.Error("looked for a preview that is not there")
	}
	if got := d.server.subscribed(); len(got) != 0 {
		t.Errorf("still subscribed to %v", got)
	}
}

func TestPreviewShowsError(t *testing.T) {
	d := newTestDashboard(t, 80, 24, testSummaries()...)
	d.server.journal = func(string) *tuitest.Journal {
		j := &tuitest.Journal{}
		j.Link(remote.Conn{State: remote.Offline, Reason: "no such session"})
		return j
	}
	d.press("space")
	d.wantText("no such session")
	d.setPending()
	d.send(dashboard.ConnMsg{State: remote.Connected})
	d.wantText("They are right.")
}

func TestPreviewOfOpenSessionIsLive(t *testing.T) {
	d := newTestDashboard(t, 140, 30, testSummaries()...)
	d.press("enter")
	o := d.p.sessions.shown
	d.press("f2", "space")
	j := tuitest.NewJournal()
	j.User(tuitest.Ada, "m1", "question")
	j.Say("t", "the answer so far")
	j.CaughtUp()
	d.send(task.Message{To: o, Msg: j.Take()})
	d.wantText("preview · release", "the answer so far")
	if looked, _ := d.server.requests(); len(looked) > 1 {
		t.Errorf("looked %v", looked)
	}
}

func TestPreviewShowsEndOfScrolledSession(t *testing.T) {
	d := newTestDashboard(t, 140, 30, testSummaries()...)
	d.press("enter")
	j := tuitest.NewJournal()
	j.User(tuitest.Ada, "m1", "the question")
	for i := range 60 {
		j.Say(fmt.Sprint("t", i), fmt.Sprintf("line %d of the answer", i))
	}
	j.End(protocol.ReasonCompleted)
	j.CaughtUp()
	d.send(task.Message{To: d.p.sessions.shown, Msg: j.Take()})
	d.press("pgup")
	d.wantNoText("line 59 of the answer")
	d.press("f2", "space")
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
			Updated: tuitest.Dawn,
			Queue:   1,
			Held:    true,
		}
		d.sendSummaries(held)
		if from == "" {
			d.press("down", "down")
		}
		chosen := d.p.dashboard.Selected()
		if from == "at once" {
			from = ""
		}
		if from != "" {
			d.run(d.p.open(from))
		}
		home := d.p.sessions.find(from)
		for _, want := range []string{"s3", "s6", "s5xyz789"} {
			d.press("f8")
			if d.p.sessions.shown == nil || d.p.sessions.shown.id != want {
				t.Fatalf("from %q: shows %+v, want %s", from, d.p.sessions.shown, want)
			}
		}
		d.press("f8")
		switch {
		case from == "" && (d.p.sessions.shown != nil || d.p.dashboard.Selected() != chosen):
			t.Error("it does not come back to all sessions as they were")
		case from != "" && (d.p.sessions.shown == nil || d.p.sessions.shown.id != from):
			t.Errorf("it does not come back to %s", from)
		}
		d.wantText("no other session needs you")
		if from != "" && d.p.sessions.shown != home {
			t.Error("where it came from was given up meanwhile")
		}
		if d.p.dashboard.List().Need("s5xyz789") != 0 {
			t.Error("a failure that was seen is told again")
		}
	}
}

func TestAdHocAgentName(t *testing.T) {
	for agent, want := range map[string]string{
		"claude": "claude", "script:/home/ada/work.script": "work.script", "acp:/usr/bin/my-agent --acp": "my-agent", "acp:": "",
	} {
		if got := describe.Agent(agent); got != want {
			t.Errorf("%q shows as %q, want %q", agent, got, want)
		}
	}
}

func TestDashboardMouse(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	d.p.mouse = true
	click := func(x, y int) { d.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }
	click(3, 2)
	if got := d.p.dashboard.Selected(); got != "s2" {
		t.Errorf("chose %s", got)
	}
	click(3, 0)
	click(3, 12)
	d.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	if got := d.p.dashboard.Selected(); got != "s4" {
		t.Errorf("the wheel chose %s", got)
	}
	click(3, 2)
	click(3, 2)
	if d.p.sessions.shown == nil || d.p.sessions.shown.id != "s2" {
		t.Error("a click on what is chosen does not open it")
	}
}

func TestDeletedSessionStaysUntilHidden(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	d.press("enter")
	d.sendSummaries(protocol.Summary{Session: "s3", Deleted: true})
	if d.p.sessions.shown == nil {
		t.Fatal("it went away under the reader's eyes")
	}
	d.press("f2")
	if len(d.p.sessions.all) != 0 {
		t.Error("it is still subscribed")
	}
	d.press("esc")
	if d.p.sessions.shown != nil {
		t.Error("it comes back")
	}
}

func TestOpenSessionsCloseLeastRecentlyShown(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	var open []string
	for _, c := range []struct{ enter, open string }{
		{"s1", "s1"}, {"s2", "s2 s1"}, {"s3", "s3 s2 s1"}, {"s1", "s1 s3 s2"}, {"s1", "s1 s3 s2"}, {"s4", "s4 s1 s3"}, {"s2", "s2 s4 s1"},
	} {
		d.run(d.p.open(c.enter))
		open = open[:0]
		for _, o := range d.p.sessions.all {
			open = append(open, o.id)
			if o.view.Hidden() != (o != d.p.sessions.shown) {
				t.Errorf("%s is hidden: %v", o.id, o.view.Hidden())
			}
		}
		got := strings.Join(open, " ")
		if got != c.open || d.p.sessions.shown.id != c.enter || d.p.dashboard.Selected() != c.enter {
			t.Errorf("after %s open are %s, want %s", c.enter, got, c.open)
		}
	}
}

func TestOpenSessionsLimit(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	if p := testBuilder(t.Context(), Options{Keep: 5}, nil, nil).newDashboard(d.server, ""); p.sessions.keep != 5 {
		t.Errorf("keeps %d", p.sessions.keep)
	}
	d.p.sessions.keep = 1
	for _, id := range []string{"s1", "s2", "s3"} {
		d.run(d.p.open(id))
	}
	if len(d.p.sessions.all) != 1 || d.p.sessions.all[0].id != "s3" {
		t.Errorf("%d are open", len(d.p.sessions.all))
	}
}

func TestDashboardHelp(t *testing.T) {
	d := newTestDashboard(t, 90, 60, testSummaries()...)
	d.press("?")
	d.wantText(" Sessions\n", "allow the pending request once")
	d.press("q")
	d.wantText("release")
}

func TestDashboardConnectionState(t *testing.T) {
	d := newTestDashboard(t, 90, 16, testSummaries()...)
	d.send(dashboard.ConnMsg{State: remote.Reconnecting, Retry: d.now.Add(3 * time.Second)})
	d.wantText("reconnecting in 3s")
	d.press("f5")
	if d.wantNoText("reconnecting"); d.server.retries != 1 {
		t.Errorf("tried %d times again", d.server.retries)
	}
	d.send(dashboard.ConnMsg{State: remote.Offline, Reason: "forbidden\x1b[2J, says the server"})
	d.wantText("offline: forbidden")
	d.send(dashboard.ConnMsg{State: remote.Connected})
	d.wantNoText("offline")
}

// What a change costs does not depend on how many sessions there are.
func TestDashboardUpdateCostIsIndependentOfSessions(t *testing.T) {
	cost := func(n int) float64 {
		d := newTestDashboard(t, 120, 40)
		session := func(i int) protocol.Summary {
			at := tuitest.Dawn.Add(time.Duration(i) * time.Second)
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
		t.Errorf("a change makes %v allocations with 10,000 sessions, %v with 100", many, few)
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
	hostile := tuitest.Tidy()
	hostile.Title, hostile.Command = "x"+evil, "y"+evil
	d.setPending(hostile)
	for _, key := range []string{"", "space", "y", "v", "q", "esc", "X", "esc", "R", "esc", "/"} {
		if key != "" {
			d.press(key)
		}
		view := d.p.View()
		for _, bad := range []string{"\x1b[2J", "\x1b]", "\u009b", "\a", "\u202e"} {
			if strings.Contains(view.Content+view.WindowTitle, bad) {
				t.Fatalf("after %q the screen holds %q", key, bad)
			}
		}
	}
}

func TestDashboardProperties(t *testing.T) {
	keys := rapid.SampledFrom([]string{
		"up", "down", "home", "end", "pgdown", "/", "s", "space", "n", "R", "X", "D", "c", "y", "d", "v", "?",
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
		d.setPending(tuitest.Tidy())
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
					Percent:   rapid.Float64Range(-10, 1e9).Draw(rt, "percent"),
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
					rt.Fatalf("%d rows of %d", len(lines), height)
				}
				for _, line := range lines {
					if ansi.StringWidth(line) > width {
						rt.Fatalf("a line of %d cells in %d: %q", ansi.StringWidth(line), width, line)
					}
				}
				bare := ansi.Strip(content)
				if strings.ContainsAny(bare, "\x1b\u202e\u009b") || strings.Contains(content, "\x1b[2J") {
					rt.Fatalf("a control sequence is on the screen: %q", content)
				}
				got := d.p.dashboard.Selected()
				if d.p.sessions.shown == nil && got != "" && d.p.dashboard.List().Index(got) < 0 {
					rt.Fatalf("%q is selected, which is not listed", got)
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
	d.server.journal = func(string) *tuitest.Journal { return &tuitest.Journal{At: tuitest.Dawn} } // it is told later
	d.press("enter")
	d.send(task.Message{To: d.p.sessions.shown, Msg: remote.Updates(tuitest.Scenes["pipeline"]().Take())})
	d.wantText("plan · 1 of 4 done · tab", "· Sum up")
	d.press("f2", "space")
	d.wantText("preview", "· Sum up")
	d.press("enter")
	if n := strings.Count(d.screen(), "· Sum up"); n != 1 {
		t.Errorf("it is listed %d times:\n%s", n, d.screen())
	}
}

func TestDashboardKeysBeforeSize(t *testing.T) {
	for _, key := range []string{"f1", "f7", "ctrl+f", "n", "/", "R", "X", "space"} {
		d := newTestDashboard(t, 80, 24, testSummaries()...)
		d.p.dashboard.Update(tea.WindowSizeMsg{})
		d.press(key)
	}
}
