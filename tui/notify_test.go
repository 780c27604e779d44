package tui

import (
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/dashboard"
	"agentctl/tui/notify"
	"agentctl/tui/remote"
	"agentctl/tui/task"
)

// terminalOutput runs a command and returns the text of its tea.RawMsg messages.
func terminalOutput(cmd tea.Cmd) string {
	if cmd == nil {
		return ""
	}
	switch msg := cmd().(type) {
	case tea.RawMsg:
		return msg.Msg.(string)
	case tea.BatchMsg:
		var out strings.Builder
		for _, c := range msg {
			out.WriteString(terminalOutput(c))
		}
		return out.String()
	}
	return ""
}

// testSession runs a session without a Bubble Tea program. The test sends messages and events.
type testSession struct {
	p       *program
	journal *tuitest.Journal
}

// newTestSession returns a session on the screen that has applied the events of the journal.
func newTestSession(t *testing.T, j *tuitest.Journal, o Options) *testSession {
	t.Helper()
	build := testBuilder(t.Context(), o, fixedClock(tuitest.Start.Add(time.Minute)), func() string { return "" })
	p := build.newSession(tuitest.NewFakeSession())
	noTimers(p)
	p.Init()
	t.Cleanup(func() {
		build.cancel()
		p.sessions.closeAll()
	})
	p.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	s := &testSession{p, j}
	s.sendEvents()
	return s
}

// sendEvents applies the new events of the journal and returns the resulting terminal output.
func (s *testSession) sendEvents() string {
	_, cmd := s.p.Update(task.Message{To: s.p.sessions.shown, Msg: s.journal.Take()})
	return terminalOutput(cmd)
}

var footEnv, itermEnv = []string{"TERM=foot"}, []string{"TERM=xterm-256color", "TERM_PROGRAM=iTerm.app"}

func TestUnfocusedTerminalIsNotified(t *testing.T) {
	s := newTestSession(t, tuitest.Scenes["transcript"](), Options{Env: itermEnv})
	if !s.p.View().ReportFocus {
		t.Error("focus reports are not enabled")
	}
	s.p.Update(tea.BlurMsg{})
	s.journal.Text("t4", "words")
	if got := s.sendEvents(); got != "" {
		t.Errorf("got %q for agent text, want none", got)
	}
	s.journal.RequestApproval(tuitest.CommandApproval())
	if got := s.sendEvents(); got != "\a\x1b]9;agentctl: fix-tests: approval: Tidy the module\a" {
		t.Errorf("got %q for an approval", got)
	}
	s.journal.Text("t5", "words")
	if got := s.sendEvents(); got != "" {
		t.Errorf("got %q for agent text after the approval, want none", got)
	}
	s.journal.Add(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "r1", Outcome: protocol.Allowed})
	s.journal.EndTurn(protocol.ReasonCompleted)
	if got := s.sendEvents(); got != "\a\x1b]9;agentctl: fix-tests: turn completed\a" {
		t.Errorf("got %q for the end of the turn", got)
	}
}

func TestAlertsOff(t *testing.T) {
	s := newTestSession(t, tuitest.Scenes["transcript"](), Options{Env: footEnv, Alerts: Alerts{Off: true}})
	s.p.Update(tea.BlurMsg{})
	s.sendEvents()
	s.journal.RequestApproval(tuitest.CommandApproval())
	s.journal.EndTurn(protocol.ReasonCompleted)
	if got := s.sendEvents(); got != "" {
		t.Errorf("got %q with alerts off, want none", got)
	}
}

func TestFocusedTerminalIsNotNotified(t *testing.T) {
	s := newTestSession(t, tuitest.Scenes["transcript"](), Options{Env: footEnv})
	s.journal.RequestApproval(tuitest.CommandApproval())
	if got := s.sendEvents(); got != "" {
		t.Errorf("got %q without a focus report, want none", got)
	}
	s.p.Update(tea.BlurMsg{})
	s.p.Update(tea.FocusMsg{})
	s.journal.EndTurn(protocol.ReasonCompleted)
	if got := s.sendEvents(); got != "" {
		t.Errorf("got %q with focus, want none", got)
	}
}

func TestCatchUpDoesNotNotify(t *testing.T) {
	s := newTestSession(t, tuitest.NewJournal(), Options{Env: []string{"TERM=dumb"}}) // not caught up
	s.p.Update(tea.BlurMsg{})
	s.journal.UserMessage(tuitest.Ada, "m1", "hello")
	s.journal.EndTurn(protocol.ReasonCompleted)
	s.journal.RequestApproval(tuitest.CommandApproval())
	s.journal.CaughtUp()
	if got := s.sendEvents(); got != "" {
		t.Errorf("got %q for the catch-up, want none", got)
	}
	s.journal.RequestApproval(protocol.Approval{Request: "r8", Command: "ls"})
	if got := s.sendEvents(); got != "" {
		t.Errorf("got %q for a second request, want none: the session waits already", got)
	}
	for _, request := range []string{"r1", "r8"} {
		outcome := protocol.ApprovalResolvedData{Request: request, Outcome: protocol.Allowed}
		s.journal.Add(protocol.ApprovalResolved, outcome)
	}
	s.journal.RequestApproval(protocol.Approval{Request: "r9", Command: "ls"})
	if got := s.sendEvents(); got != "\a" {
		t.Errorf("got %q on a terminal without notifications, want a bell", got)
	}
}

func TestNotifyAfterReconnect(t *testing.T) {
	s := newTestSession(t, tuitest.Scenes["transcript"](), Options{Env: []string{"TERM=dumb"}})
	s.p.Update(tea.BlurMsg{})
	s.journal.Pending = append(
		s.journal.Pending,
		remote.Update{Attached: &protocol.SubscribeResult{Session: "s1", Mode: protocol.ModeResume}},
	)
	s.journal.RequestApproval(tuitest.CommandApproval())
	if got := s.sendEvents(); got != "" {
		t.Errorf("got %q before the end of the catch-up, want none", got)
	}
	s.journal.CaughtUp()
	if got := s.sendEvents(); got != "\a" {
		t.Errorf("got %q, want a bell", got)
	}
}

func TestDashboardNotifiesForEverySession(t *testing.T) {
	p := testDashboardModel(t.Context(), Options{Env: footEnv}, time.Now, tuitest.NewServer())
	send := func(s protocol.Summary) string {
		_, cmd := p.Update(dashboard.SummariesMsg{{Summary: s}})
		return terminalOutput(cmd)
	}
	p.Update(tea.BlurMsg{})
	asked, later := tuitest.Start, tuitest.Start.Add(time.Minute)
	for _, c := range []struct {
		summary protocol.Summary
		want    string
	}{
		// The session already waits at the start.
		{protocol.Summary{Status: protocol.Waiting, Turn: "t1", Asked: &asked, Approvals: 1}, ""},
		{protocol.Summary{Status: protocol.Running, Turn: "t1"}, ""},
		{protocol.Summary{Status: protocol.Waiting, Turn: "t1", Asked: &later, Approvals: 2}, "docs: 2 approvals"},
		{protocol.Summary{Status: protocol.Waiting, Turn: "t1", Asked: &later, Approvals: 2, Seq: 9}, ""},
		{protocol.Summary{Status: protocol.Running, Turn: "t1"}, ""},
		{
			protocol.Summary{Status: protocol.Waiting, Turn: "t1", Asked: &asked, Approvals: 1, Doing: "git push"},
			"docs: approval: git push",
		},
		{protocol.Summary{Status: protocol.Running, Turn: "t2"}, "docs: turn ended, the next one runs"},
		{protocol.Summary{Status: protocol.Idle, Reason: protocol.ReasonInterrupted}, "docs: turn interrupted"},
		{protocol.Summary{Status: protocol.Idle, Reason: protocol.ReasonInterrupted, Clients: 2}, ""},
		{protocol.Summary{Deleted: true}, ""},
	} {
		c.summary.Session, c.summary.Name = "s1", "docs"
		want := ""
		if c.want != "" {
			want = "\a\x1b]777;notify;agentctl;" + c.want + "\a"
		}
		if got := send(c.summary); got != want {
			t.Errorf("output for %+v: got %q, want %q", c.summary, got, want)
		}
	}
	p.Update(
		dashboard.SummariesMsg{{Summary: protocol.Summary{Session: "s2", Status: protocol.Waiting, Asked: &asked}}},
	)
	if v := p.View(); v.WindowTitle != "(1) agentctl" || !v.ReportFocus {
		t.Errorf("got title %q and focus reports %v, want 1 waiting and true", v.WindowTitle, v.ReportFocus)
	}
}

func TestNotificationsAreRestrictedByStateAndLabel(t *testing.T) {
	only := notify.Only{
		States: []notify.State{notify.Waiting, notify.Failed}, Labels: []string{"team=infra", "urgent"},
	}
	options := Options{Env: footEnv, Alerts: Alerts{Only: only}}
	p := testDashboardModel(t.Context(), options, time.Now, tuitest.NewServer())
	p.Update(tea.BlurMsg{})
	asked, infra, urgent := tuitest.Start, map[string]string{"team": "infra"}, map[string]string{"urgent": "1"}
	for name, c := range map[string]struct {
		labels map[string]string
		then   protocol.Summary
		told   bool
	}{
		"waits":          {infra, protocol.Summary{Status: protocol.Waiting, Turn: "t"}, true},
		"failed":         {urgent, protocol.Summary{Reason: protocol.ReasonError}, true},
		"finished":       {urgent, protocol.Summary{Reason: protocol.ReasonCompleted}, false},
		"other label":    {map[string]string{"team": "web"}, protocol.Summary{Reason: protocol.ReasonError}, false},
		"without labels": {nil, protocol.Summary{Reason: protocol.ReasonError}, false},
	} {
		if c.then.Status == protocol.Waiting {
			c.then.Asked, c.then.Approvals = &asked, 1
		}
		before := protocol.Summary{Status: protocol.Running, Turn: "t"}
		before.Session, before.Labels = name, c.labels
		c.then.Session, c.then.Labels = name, c.labels
		p.Update(dashboard.SummariesMsg{{Summary: before}})
		_, cmd := p.Update(dashboard.SummariesMsg{{Summary: c.then}})
		if got := terminalOutput(cmd); (got != "") != c.told {
			t.Errorf("%s: told %q, want one: %v", name, got, c.told)
		}
	}
}

func TestProgressBarSupport(t *testing.T) {
	bar := func(name string, can bool) *tea.ProgressBar {
		env := []string{"TERM=dumb"}
		if can {
			env = append(env, "WT_SESSION=x")
		}
		return newTestSession(t, tuitest.Scenes[name](), Options{Env: env}).p.View().ProgressBar
	}
	if got := bar("transcript", false); got != nil {
		t.Errorf("got progress %+v on a terminal without support, want none", got)
	}
	for name, want := range map[string]tea.ProgressBar{
		"transcript": {State: tea.ProgressBarIndeterminate},
		"approval":   {State: tea.ProgressBarWarning, Value: 100},
		"plan":       {State: tea.ProgressBarDefault, Value: 33},
	} {
		if got := bar(name, true); got == nil || *got != want {
			t.Errorf("progress of %s: got %+v, want %+v", name, got, want)
		}
	}
}

func TestProgramRingsBellWithoutInjectedSequences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		keys, typing := io.Pipe()
		_, out, stop := startSession(t, r, keys, 80, 24)
		j := tuitest.Conversation()
		j.CaughtUp()
		feed := func() string {
			from := len(out.String())
			for _, u := range j.Take() {
				r.Feed <- u
			}
			tuitest.Wait(time.Second)
			return out.String()[from:]
		}
		feed()
		if !strings.Contains(out.String(), "\x1b[?1004h") {
			t.Error("focus reports are not enabled")
		}
		if _, err := io.WriteString(typing, "\x1b[O"); err != nil {
			t.Fatal(err)
		}
		tuitest.Wait(time.Second)
		a := tuitest.CommandApproval()
		a.Title = "a\a\x1b]9;b\a"
		j.RequestApproval(a)
		// The sequence of the window title ends with a bell character.
		got := regexp.MustCompile(`\x1b\]2;[^\a\x1b]*\a`).ReplaceAllString(feed(), "")
		if strings.Count(got, "\a") != 1 || strings.Contains(got, "\x1b]") {
			t.Errorf("got %q, want one bell", got)
		}
		_ = typing.Close() // always returns nil
		stop()
		if !strings.Contains(out.String(), "\x1b[?1004l") {
			t.Error("focus reports are not disabled at the end")
		}
	})
}

func TestAlertOptions(t *testing.T) {
	kitty := []string{"TERM=xterm-kitty"}
	const notification = "\x1b]99;i=agentctl;agentctl: fix-tests: approval: Tidy the module\a"
	for _, c := range []struct {
		options Options
		want    string
	}{
		{Options{Env: kitty}, "\a" + notification},
		{Options{Env: kitty, Alerts: Alerts{NoBell: true}}, notification},
		{Options{Env: kitty, Alerts: Alerts{NoNotify: true}}, "\a"},
		{Options{Env: kitty, Alerts: Alerts{NoBell: true, NoNotify: true}}, ""},
	} {
		s := newTestSession(t, tuitest.Scenes["transcript"](), c.options)
		s.p.Update(tea.BlurMsg{})
		s.journal.RequestApproval(tuitest.CommandApproval())
		if got := s.sendEvents(); got != c.want {
			t.Errorf("output with %+v: got %q, want %q", c.options, got, c.want)
		}
	}
}

func TestSessionsOutOfViewNotifyOnAFocusedTerminal(t *testing.T) {
	d := newTestDashboardWith(t, Options{Env: footEnv}, 90, 16)
	asked, later := tuitest.Start, tuitest.Start.Add(time.Minute)
	send := func(s protocol.Summary) string {
		s.Session, s.Name = "s1", "docs"
		_, cmd := d.p.Update(dashboard.SummariesMsg{{Summary: s}})
		return terminalOutput(cmd)
	}
	running := protocol.Summary{Status: protocol.Running, Turn: "t1"}
	waits := protocol.Summary{Status: protocol.Waiting, Turn: "t1", Asked: &asked, Approvals: 1}
	more := protocol.Summary{Status: protocol.Waiting, Turn: "t1", Asked: &asked, Approvals: 2}
	again := protocol.Summary{Status: protocol.Waiting, Turn: "t1", Asked: &later, Approvals: 1}
	ended := protocol.Summary{Reason: protocol.ReasonCompleted}
	check := func(place string, s protocol.Summary, want bool) {
		t.Helper()
		if got := send(s); (got != "") != want {
			t.Errorf("%s, %+v: got %q, want a notification: %v", place, s, got, want)
		}
	}
	d.send(tea.FocusMsg{})
	check("list", running, false)
	check("list", waits, true)
	check("list", more, false) // it waits already
	check("list", again, true) // the first request was decided
	check("list", ended, true)
	check("list", ended, false)
	d.run(d.p.open("s1"))
	check("shown", running, false)
	check("shown", waits, false)
	check("shown", ended, false)
	d.send(tea.BlurMsg{})
	check("shown without focus", running, false)
	check("shown without focus", ended, true)
	d.send(tea.FocusMsg{})
	d.run(d.p.open("s2"))
	check("hidden", running, false)
	check("hidden", ended, true)
}

func TestNotificationsAndTheStatusLineNameTheServer(t *testing.T) {
	d := newServersDashboard(t)
	d.p.notifier = (&Options{Env: footEnv}).newNotifier()
	for _, status := range []protocol.Status{protocol.Running, protocol.Idle} {
		s := protocol.Summary{Session: "box/s1", Name: "docs", Status: status, Reason: protocol.ReasonCompleted}
		if status == protocol.Running {
			s.Turn, s.Reason = "t1", ""
		}
		_, cmd := d.p.Update(dashboard.SummariesMsg{{Summary: s}})
		if got := terminalOutput(cmd); status == protocol.Idle && !strings.Contains(got, "box/docs: turn completed") {
			t.Errorf("got notification %q", got)
		}
	}
	for id, want := range map[string]string{"box/s1": "box/fix-tests", "s1": "local/fix-tests"} {
		d.p.open(id)
		d.send(task.Message{To: d.p.sessions.shown, Msg: tuitest.Conversation().Take()})
		d.wantText(want)
	}
	d = newTestDashboard(t, 90, 16, tuitest.Summaries()...)
	d.run(d.p.open("s1"))
	d.send(task.Message{To: d.p.sessions.shown, Msg: tuitest.Conversation().Take()})
	d.wantNoText("/fix-tests")
}

func TestDirectoriesOfOtherServersAreNotOnThisMachine(t *testing.T) {
	d := newServersDashboard(t)
	if d.p.sessions.host("box/s1").Local {
		t.Error("a directory of another server is on this machine")
	}
	set := d.p.dashboard.Server
	p := testDashboardModel(t.Context(), Options{Local: true}, fixedClock(tuitest.Start), set)
	if !p.sessions.host("s1").Local || p.sessions.host("box/s1").Local {
		t.Errorf("got %+v at home, %+v at box", p.sessions.host("s1"), p.sessions.host("box/s1"))
	}
}
