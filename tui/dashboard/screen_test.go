package dashboard

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
)

func TestDashboardFilter(t *testing.T) {
	d := newTestDashboard(t, 90, 16, tuitest.Summaries()...)
	d.press("/")
	d.typeText("Doc")
	d.want("filter “Doc”", "docs")
	d.wantNo("release")
	d.typeText("x")
	d.want("no session matches the filter")
	d.press("backspace", "enter")
	d.want("filter “Doc”")
	d.put(
		protocol.Summary{Session: "s9", Name: "docs-2", Status: protocol.Idle, Updated: tuitest.Start},
		protocol.Summary{Session: "s8", Name: "other", Status: protocol.Idle},
	)
	d.want("docs-2")
	d.wantNo("other")
	d.press("esc")
	d.want("release", "other")
	d.press("/")
	d.typeText("docs")
	d.press("esc")
	d.want("release")
}

func TestDashboardSort(t *testing.T) {
	d := newTestDashboard(t, 90, 16, tuitest.Summaries()...)
	first := func() string { return d.d.List().At(0).Name }
	for _, want := range []struct{ by, first string }{
		{"need", "release"},
		{"project", "release"},
		{"need", "release"},
	} {
		d.want("by " + want.by)
		if got := first(); got != want.first {
			t.Errorf("first session by %s: got %s, want %s", want.by, got, want.first)
		}
		d.press("O")
	}
}

func TestDashboardAppliesSummaries(t *testing.T) {
	d := newTestDashboard(t, 90, 16, tuitest.Summaries()...)
	d.press("down", "down")
	selected := d.d.Selected()
	asked := tuitest.Start
	d.put(
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
	d.want("sessions 4", "? docs", "2 approvals", " 1m\n")
	d.wantNo("release")
	if got := d.d.Selected(); got != selected {
		t.Errorf("selected session: got %s, want %s", got, selected)
	}
	d.send(SummariesMsg{{Err: errors.New("no route")}})
	d.want("no route")
}

// Ages change each second while a session waits or runs, else each minute.
func TestDashboardShowsAgesAsTheyChange(t *testing.T) {
	asked := tuitest.Start.Add(time.Minute)
	d := newTestDashboard(t, 90, 16, protocol.Summary{
		Session: "s1", Status: protocol.Waiting, Approvals: 1, Asked: &asked,
	}, protocol.Summary{Session: "s2", Status: protocol.Running, Turn: "t", Since: &asked, Doing: "go test"})
	now = now.Add(7 * time.Second)
	d.fireTimers()
	if n := strings.Count(d.screen(), " 7s\n"); n != 2 {
		t.Errorf("%d ages of 7s, want 2:\n%s", n, d.screen())
	}
	d.put(protocol.Summary{Session: "s1", Deleted: true},
		protocol.Summary{Session: "s2", Status: protocol.Idle, Updated: now})
	d.fireTimers() // of the last second
	now = now.Add(time.Minute)
	if !d.fireTimers() {
		t.Error("no timer while an age is on the screen")
	}
	d.want(" 1m\n")
	d.put(protocol.Summary{Session: "s2", Deleted: true})
	d.fireTimers()
	if d.fireTimers() {
		t.Error("a timer runs though no age is on the screen")
	}
}

func TestDashboardEmpty(t *testing.T) {
	d := newTestDashboard(t, 80, 24)
	d.want("There is no session yet", "+ creates one", "agentctl new")
	d.press("enter", "y", "X", "p", "down", "f8")
	d.press("+")
	d.want("new session")
}

func TestDashboardRenameAndClose(t *testing.T) {
	d := newTestDashboard(t, 90, 16, tuitest.Summaries()...)
	d.server.SetPending()
	last := func() string {
		_, commands := d.server.Requests()
		if len(commands) == 0 {
			return ""
		}
		return commands[len(commands)-1]
	}
	data := func(session string) any {
		commands := d.server.Sessions[session].Commands()
		return commands[len(commands)-1].Data
	}
	d.press("e")
	d.typeText("-2")
	d.press("enter")
	if got := *data("s3").(protocol.RenameData).Name; last() != "s3 rename" || got != "release-2" {
		t.Errorf("got %s with name %q, want s3 rename with release-2", last(), got)
	}
	d.press("down", "down", "X")
	d.want("close fix-tests?", "▸ Cancel", "Close, keep the history", "Delete with all history")
	d.press("w", "D", "y", "enter") // Cancel has the focus
	d.wantNo("close fix-tests?")
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
	d.wantNo("Close, keep")
	d.want("close old")
	d.put(protocol.Summary{Session: "s4", Deleted: true})
	d.wantNo("close old")
}

// A deleted session whose git worktree has unmerged work leaves it there.
func TestDashboardSaysThatAWorktreeStays(t *testing.T) {
	d := newTestDashboard(t, 120, 16, tuitest.Summaries()...)
	d.server.Reply = func(string, tuitest.Command) (any, error) {
		return protocol.CloseResult{Worktree: "/w/repo-fix", Reason: "1 changed file"}, nil
	}
	d.press("X", "right", "right", "enter")
	d.want("the worktree /w/repo-fix stays: 1 changed file")
}

func TestDashboardShowsRefusal(t *testing.T) {
	d := newTestDashboard(t, 90, 16, tuitest.Summaries()...)
	d.server.Reply = func(string, tuitest.Command) (any, error) { return nil, tuitest.ErrRefused }
	d.press("X", "right", "enter")
	d.want(tuitest.ErrRefused.Message)
	d.press("e", "enter")
	d.want("rename release", tuitest.ErrRefused.Message)
	d.press("esc", "y")
	d.want(tuitest.ErrRefused.Message)
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
	d := newTestDashboard(t, 90, 16, tuitest.Summaries()...)
	click := d.click
	click(3, 7)
	if got := d.d.Selected(); got != "s2" {
		t.Errorf("selected by a click: got %s, want s2", got)
	}
	for _, y := range []int{0, 1, 2, 13} { // the title, the columns, a group, no row
		click(3, y)
	}
	d.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	if got := d.d.Selected(); got != "s4" {
		t.Errorf("selected by the wheel: got %s, want s4", got)
	}
	click(3, 7)
	click(3, 7)
	if d.opened() != "s2" {
		t.Error("a click on the selected session does not open it")
	}
}

func TestDashboardHelp(t *testing.T) {
	d := newTestDashboard(t, 90, 60, tuitest.Summaries()...)
	d.press("?")
	d.want(" Sessions\n", "show the request")
	d.press("q")
	d.want("release")
}

func TestDashboardConnectionState(t *testing.T) {
	d := newTestDashboard(t, 90, 16, tuitest.Summaries()...)
	d.send(ConnMsg{State: remote.Reconnecting, Retry: now.Add(3 * time.Second)})
	d.want("reconnecting in 3s")
	d.press("f5")
	if d.wantNo("reconnecting"); d.server.Retries != 1 {
		t.Errorf("got %d retries, want 1", d.server.Retries)
	}
	d.send(ConnMsg{State: remote.Offline, Reason: "forbidden\x1b[2J, says the server"})
	d.want("offline: forbidden")
	d.send(ConnMsg{State: remote.Connected})
	d.wantNo("offline")
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
		d.put(all...)
		i := 0
		return testing.AllocsPerRun(50, func() {
			i++
			s := session(i * 7 % n)
			s.Updated = s.Updated.Add(time.Hour)
			d.put(s)
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
	d.server.SetPending(hostile)
	for _, key := range []string{"", "p", "y", "v", "q", "esc", "X", "esc", "R", "esc", "/"} {
		if key != "" {
			d.press(key)
		}
		view := d.d.View()
		for _, bad := range []string{"\x1b[2J", "\x1b]", "\u009b", "\a", "\u202e"} {
			if strings.Contains(view.Content+view.WindowTitle, bad) {
				t.Fatalf("after %q: got %q on the screen", key, bad)
			}
		}
	}
}

func TestDashboardOutageAdvice(t *testing.T) {
	d := newTestDashboard(t, 100, 12)
	d.send(ConnMsg{State: remote.Reconnecting, Attempt: 2, Advice: "start one with: agentctl serve"})
	d.want("F5 tries again now · start one with: agentctl serve")
}

func TestDashboardKeysBeforeSize(t *testing.T) {
	for _, key := range []string{"f1", "f7", "ctrl+f", "n", "/", "R", "X", "p"} {
		d := newTestDashboard(t, 80, 24, tuitest.Summaries()...)
		d.d.Update(tea.WindowSizeMsg{})
		d.press(key)
	}
}

func TestDashboardFitsAllSizes(t *testing.T) {
	d := newTestDashboard(t, 80, 24, tuitest.Summaries()...)
	d.server.SetPending(tuitest.CommandApproval())
	keys := []string{
		"", "p", "n", "esc", "/", "esc", "y", "esc", "X", "esc", "R", "esc", "?", "q", "p",
	}
	for width := 1; width < 160; width += 7 {
		for _, height := range []int{1, 2, 3, 5, 9, 20} {
			d.send(tea.WindowSizeMsg{Width: width, Height: height})
			for _, key := range keys {
				if key != "" {
					d.press(key)
				}
				view := d.d.View()
				lines := strings.Split(view.Content, "\n")
				if len(lines) > height {
					t.Fatalf("got %d rows at %dx%d after %q", len(lines), width, height, key)
				}
				for _, line := range lines {
					if ansi.StringWidth(line) > width {
						t.Fatalf("got row %q at %dx%d after %q", line, width, height, key)
					}
				}
				if c := view.Cursor; c != nil && (c.X >= width || c.Y >= height) {
					t.Fatalf("got cursor %d,%d at %dx%d after %q", c.X, c.Y, width, height, key)
				}
			}
		}
	}
}

// A long command of an agent leaves room for the other details.
func TestTheDetailsOfASessionHaveTheNameOfItsAgent(t *testing.T) {
	s := tuitest.Summaries()[0]
	s.Agent, s.Clients = "script:/home/ada/a/long/way/to/the/agents/of/the/project/review.script", 2
	d := newTestDashboard(t, 80, 24, s)
	d.want("review.script", "2 clients")
	d.wantNo("a/long/way")
}
