package tui

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/task"
)

// openApproval opens the approval dialog of the first session and waits until it accepts a
// decision.
func (d *testDashboard) openApproval(a protocol.Approval) {
	d.server.SetPending(a)
	d.press("y")
	d.waitGrace()
}

// waitGrace advances time beyond the grace period of the approval dialog.
func (d *testDashboard) waitGrace() {
	d.now = d.now.Add(2 * approval.Grace)
	d.fireTimers()
}

// A reason whose decision came too late continues in the message box, also of an open session.
func TestAReasonThatCameTooLateIsKept(t *testing.T) {
	for _, opened := range []bool{false, true} {
		d := newTestDashboard(t, 120, 24, tuitest.Summaries()...)
		if opened {
			d.press("enter", "f2")
		}
		d.openApproval(tuitest.CommandApproval())
		d.press("r")
		d.typeText("not in Xmas")
		d.press("enter")
		d.server.Reply = func(string, tuitest.Command) (any, error) {
			s := protocol.Summary{Session: "s3", Name: "release", Status: protocol.Running, Updated: tuitest.Start}
			d.sendSummaries(s)
			return nil, &protocol.Error{Code: protocol.CodeConflict, Message: "too late"}
		}
		d.waitGrace()
		d.press("n")
		d.waitGrace() // the decision of a key is held
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

func TestPreviewOfOpenSessionIsLive(t *testing.T) {
	d := newTestDashboard(t, 140, 30, tuitest.Summaries()...)
	d.press("enter")
	o := d.p.sessions.shown
	d.press("f2", "p")
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "question")
	j.Text("t", "the answer so far")
	j.CaughtUp()
	d.send(task.Message{To: o, Msg: j.Take()})
	d.wantText("preview · release", "the answer so far")
	if loaded, _ := d.server.Requests(); len(loaded) > 1 {
		t.Errorf("got subscriptions %v, want at most 1", loaded)
	}
}

func TestPreviewShowsEndOfScrolledSession(t *testing.T) {
	d := newTestDashboard(t, 140, 30, tuitest.Summaries()...)
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
		d := newTestDashboard(t, 90, 16, tuitest.Summaries()...)
		d.server.SetPending(tuitest.CommandApproval())
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
		if from == "at once" {
			from = ""
		}
		if from != "" {
			d.run(d.p.open(from))
		}
		origin := d.p.sessions.find(from)
		d.press("f8")
		if p := d.p; p.sessions.shown != nil || p.dashboard.Selected() != "s3" || p.dashboard.Scope() != keymap.Approval {
			t.Fatalf("from %q: no request of s3 is shown", from)
		}
		for _, want := range []string{"s6", "s5xyz789"} {
			d.press("f8")
			if d.p.sessions.shown == nil || d.p.sessions.shown.id != want {
				t.Fatalf("from %q: got session %+v, want %s", from, d.p.sessions.shown, want)
			}
		}
		d.press("f8")
		switch {
		case from == "" && d.p.sessions.shown != nil:
			t.Error("the walk does not return to the dashboard")
		case from != "" && (d.p.sessions.shown == nil || d.p.sessions.shown.id != from):
			t.Errorf("the walk does not return to session %s", from)
		}
		d.wantText("no other session needs you")
		if from != "" && d.p.sessions.shown != origin {
			t.Error("the session at the start of the walk was closed")
		}
		if maps.Collect(d.p.dashboard.List().Needs())["s5xyz789"] != 0 {
			t.Error("a seen failure still needs the user")
		}
	}
}

// TestPaletteOfASessionCreatesAnother runs /new in a session: the form of the list opens.
func TestPaletteOfASessionCreatesAnother(t *testing.T) {
	d := newTestDashboard(t, 100, 30, tuitest.Summaries()...)
	d.press("enter")
	if d.p.sessions.shown == nil {
		t.Fatal("no session is open")
	}
	d.typeText("/new")
	d.press("enter")
	d.wantText("─ new session", "directory")
	for id, s := range d.server.Sessions {
		for _, c := range s.Commands() {
			if c.Verb == protocol.DoSend {
				t.Errorf("%s gets the message %+v", id, c.Data)
			}
		}
	}
}

func TestDeletedSessionStaysUntilHidden(t *testing.T) {
	d := newTestDashboard(t, 90, 16, tuitest.Summaries()...)
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
	d := newTestDashboard(t, 90, 16, tuitest.Summaries()...)
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
	d := newTestDashboard(t, 90, 16, tuitest.Summaries()...)
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
		d.server.SetPending(tuitest.CommandApproval())
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
				d.fireTimers()
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

func TestPreviewListsPlan(t *testing.T) {
	d := newTestDashboard(t, 140, 40, tuitest.Summaries()...)
	// The session starts empty.
	d.server.Journal = func(string) *tuitest.Journal { return &tuitest.Journal{At: tuitest.Start} }
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

// A request that cannot be allowed, denied or decided at all takes any key.

// The last decision of a walk returns to the session in which it began; leaving the walk does not.
func TestTheLastDecisionReturnsToTheSession(t *testing.T) {
	d := newTestDashboard(t, 90, 30, tuitest.Summaries()...)
	d.server.SetPending(tuitest.CommandApproval())
	d.run(d.p.open("s1"))
	d.press("f8")
	d.wantText("go mod tidy")
	d.press("esc")
	if d.p.sessions.shown != nil || d.p.navigation.visited != nil {
		t.Error("esc does not stay in the list")
	}
	d.run(d.p.open("s1"))
	d.press("f8", "space")
	if o := d.p.sessions.shown; o == nil || o.id != "s1" {
		t.Error("the walk does not return to s1")
	}
	d.wantText("no other session needs you")
}
