package tui

import (
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
	"agentctl/tui/dashboard"
	"agentctl/tui/remote"
	"agentctl/tui/task"
)

// written is what a command writes to the terminal by itself.
func written(cmd tea.Cmd) string {
	if cmd == nil {
		return ""
	}
	switch msg := cmd().(type) {
	case tea.RawMsg:
		return msg.Msg.(string)
	case tea.BatchMsg:
		var out strings.Builder
		for _, c := range msg {
			out.WriteString(written(c))
		}
		return out.String()
	}
	return ""
}

// solo is a program of one session: keys and events are given to it by hand.
type solo struct {
	p       *program
	journal *tuitest.Journal
}

// openSolo shows what the journal holds so far.
func openSolo(t *testing.T, j *tuitest.Journal, o Options) *solo {
	t.Helper()
	build := testBuilder(t.Context(), o, func() time.Time { return tuitest.Start.Add(time.Minute) }, func() string { return "" })
	p := build.session(tuitest.NewFakeSession())
	noTimers(p)
	p.Init()
	t.Cleanup(func() {
		build.cancel()
		p.sessions.close()
	})
	p.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	s := &solo{p, j}
	s.news()
	return s
}

// news returns what is written to the terminal for the events since the last call.
func (s *solo) news() string {
	_, cmd := s.p.Update(task.Message{To: s.p.sessions.shown, Msg: s.journal.Take()})
	return written(cmd)
}

var foot, iterm = []string{"TERM=foot"}, []string{"TERM=xterm-256color", "TERM_PROGRAM=iTerm.app"}

func TestAPersonWhoLooksElsewhereIsCalled(t *testing.T) {
	s := openSolo(t, tuitest.Scenes["transcript"](), Options{Env: iterm})
	if !s.p.View().ReportFocus {
		t.Error("focus reports are not asked for")
	}
	s.p.Update(tea.BlurMsg{})
	s.journal.Text("t4", "words")
	if got := s.news(); got != "" {
		t.Errorf("words wrote %q", got)
	}
	s.journal.RequestApproval(tuitest.CommandApproval())
	if got := s.news(); got != "\a\x1b]9;agentctl: fix-tests: approval: Tidy the module\a" {
		t.Errorf("an approval wrote %q", got)
	}
	s.journal.Text("t5", "words")
	if got := s.news(); got != "" {
		t.Errorf("the same approval wrote %q again", got)
	}
	s.journal.Add(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "r1", Outcome: protocol.Allowed})
	s.journal.EndTurn(protocol.ReasonCompleted)
	if got := s.news(); got != "\a\x1b]9;agentctl: fix-tests: turn completed\a" {
		t.Errorf("the turn's end wrote %q", got)
	}
}

func TestAPersonWhoWantsNoAlertIsNotCalled(t *testing.T) {
	s := openSolo(t, tuitest.Scenes["transcript"](), Options{Env: foot, Alerts: Alerts{Off: true}})
	s.p.Update(tea.BlurMsg{})
	s.news()
	s.journal.RequestApproval(tuitest.CommandApproval())
	s.journal.EndTurn(protocol.ReasonCompleted)
	if got := s.news(); got != "" {
		t.Errorf("%q was written", got)
	}
}

func TestAPersonWhoLooksIsNotCalled(t *testing.T) {
	s := openSolo(t, tuitest.Scenes["transcript"](), Options{Env: foot})
	s.journal.RequestApproval(tuitest.CommandApproval())
	if got := s.news(); got != "" {
		t.Errorf("without a report of the focus %q was written", got)
	}
	s.p.Update(tea.BlurMsg{})
	s.p.Update(tea.FocusMsg{})
	s.journal.EndTurn(protocol.ReasonCompleted)
	if got := s.news(); got != "" {
		t.Errorf("with the focus back %q was written", got)
	}
}

func TestWhatWasThereBeforeCallsNobody(t *testing.T) {
	s := openSolo(t, tuitest.NewJournal(), Options{Env: []string{"TERM=dumb"}}) // not caught up yet
	s.p.Update(tea.BlurMsg{})
	s.journal.UserMessage(tuitest.Ada, "m1", "hello")
	s.journal.EndTurn(protocol.ReasonCompleted)
	s.journal.RequestApproval(tuitest.CommandApproval())
	s.journal.CaughtUp()
	if got := s.news(); got != "" {
		t.Errorf("the catch-up wrote %q", got)
	}
	s.journal.RequestApproval(protocol.Approval{Request: "r9", Command: "ls"})
	if got := s.news(); got != "\a" {
		t.Errorf("a terminal that only rings was sent %q", got)
	}
}

func TestWhatHappenedWhileTheLinkWasDownCalls(t *testing.T) {
	s := openSolo(t, tuitest.Scenes["transcript"](), Options{Env: []string{"TERM=dumb"}})
	s.p.Update(tea.BlurMsg{})
	s.journal.Pending = append(s.journal.Pending, remote.Update{Attached: &protocol.SubscribeResult{Session: "s1", Mode: protocol.ModeResume}})
	s.journal.RequestApproval(tuitest.CommandApproval())
	if got := s.news(); got != "" {
		t.Errorf("before the catch-up was over %q was written", got)
	}
	s.journal.CaughtUp()
	if got := s.news(); got != "\a" {
		t.Errorf("wrote %q, want a bell", got)
	}
}

func TestADeskCallsForEverySession(t *testing.T) {
	d := testBuilder(t.Context(), Options{Env: foot}, time.Now, func() string { return "" }).dashboard(newPort(), "")
	noTimers(d)
	tell := func(s protocol.Summary) string {
		_, cmd := d.Update(dashboard.SummariesMsg{{Summary: s}})
		return written(cmd)
	}
	d.Update(tea.BlurMsg{})
	asked, later := tuitest.Start, tuitest.Start.Add(time.Minute)
	for _, c := range []struct {
		summary protocol.Summary
		want    string
	}{
		{protocol.Summary{Status: protocol.Waiting, Turn: "t1", Asked: &asked, Approvals: 1}, ""}, // was there before
		{protocol.Summary{Status: protocol.Running, Turn: "t1"}, ""},
		{protocol.Summary{Status: protocol.Waiting, Turn: "t1", Asked: &later, Approvals: 2}, "docs: 2 approvals"},
		{protocol.Summary{Status: protocol.Waiting, Turn: "t1", Asked: &later, Approvals: 2, Seq: 9}, ""},
		{protocol.Summary{Status: protocol.Running, Turn: "t1"}, ""},
		{protocol.Summary{Status: protocol.Waiting, Turn: "t1", Asked: &asked, Approvals: 1, Doing: "git push"}, "docs: approval: git push"},
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
		if got := tell(c.summary); got != want {
			t.Errorf("%+v wrote %q, want %q", c.summary, got, want)
		}
	}
	d.Update(dashboard.SummariesMsg{{Summary: protocol.Summary{Session: "s2", Status: protocol.Waiting, Asked: &asked}}})
	if v := d.View(); v.WindowTitle != "agentctl · 1 waiting" || !v.ReportFocus {
		t.Errorf("the title is %q, focus reports %v", v.WindowTitle, v.ReportFocus)
	}
}

func TestProgressShowsWhereTheTerminalHasIt(t *testing.T) {
	bar := func(name string, can bool) *tea.ProgressBar {
		env := []string{"TERM=dumb"}
		if can {
			env = append(env, "WT_SESSION=x")
		}
		return openSolo(t, tuitest.Scenes[name](), Options{Env: env}).p.View().ProgressBar
	}
	if got := bar("transcript", false); got != nil {
		t.Errorf("a terminal that has no progress is sent %+v", got)
	}
	for name, want := range map[string]tea.ProgressBar{
		"transcript": {State: tea.ProgressBarIndeterminate},
		"approval":   {State: tea.ProgressBarWarning, Value: 100},
		"plan":       {State: tea.ProgressBarDefault, Value: 33},
	} {
		if got := bar(name, true); got == nil || *got != want {
			t.Errorf("%s has progress %+v, want %+v", name, got, want)
		}
	}
}

func TestAWholeProgramRingsAndKeepsItsSequencesApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		keys, typing := io.Pipe()
		_, out, end := launch(t, r, keys, 80, 24)
		j := tuitest.Conversation()
		j.CaughtUp()
		tell := func() string {
			from := len(out.String())
			for _, u := range j.Take() {
				r.Feed <- u
			}
			tuitest.Wait(time.Second)
			return out.String()[from:]
		}
		tell()
		if !strings.Contains(out.String(), "\x1b[?1004h") {
			t.Error("focus reports are not asked for")
		}
		if _, err := io.WriteString(typing, "\x1b[O"); err != nil {
			t.Fatal(err)
		}
		tuitest.Wait(time.Second)
		a := tuitest.CommandApproval()
		a.Title = "a\a\x1b]9;b\a"
		j.RequestApproval(a)
		// The window's title ends with a bell of its own.
		if got := regexp.MustCompile(`\x1b\]2;[^\a\x1b]*\a`).ReplaceAllString(tell(), ""); strings.Count(got, "\a") != 1 || strings.Contains(got, "\x1b]") {
			t.Errorf("wrote %q, want one bell", got)
		}
		_ = typing.Close() // never fails
		end()
		if !strings.Contains(out.String(), "\x1b[?1004l") {
			t.Error("focus reports are left on")
		}
	})
}

func TestWhatIsNotWantedDoesNotCall(t *testing.T) {
	kitty := []string{"TERM=xterm-kitty"}
	for _, c := range []struct {
		options Options
		want    string
	}{
		{Options{Env: kitty}, "\a\x1b]99;i=agentctl;agentctl: fix-tests: approval: Tidy the module\a"},
		{Options{Env: kitty, Alerts: Alerts{NoBell: true}}, "\x1b]99;i=agentctl;agentctl: fix-tests: approval: Tidy the module\a"},
		{Options{Env: kitty, Alerts: Alerts{NoNotify: true}}, "\a"},
		{Options{Env: kitty, Alerts: Alerts{NoBell: true, NoNotify: true}}, ""},
	} {
		s := openSolo(t, tuitest.Scenes["transcript"](), c.options)
		s.p.Update(tea.BlurMsg{})
		s.journal.RequestApproval(tuitest.CommandApproval())
		if got := s.news(); got != c.want {
			t.Errorf("%+v wrote %q, want %q", c.options, got, c.want)
		}
	}
}
