package tui

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/dashboard"
	"agentctl/tui/remote"
	"agentctl/tui/split"
	"agentctl/tui/task"
	"agentctl/tui/ui"
)

// paneScenes are the contents of the sessions in the tests of panes.
var paneScenes = map[string]string{"s1": "approval", "s2": "transcript", "s3": "plan", "s5xyz789": "queue"}

// newTestPanes returns a dashboard from which the sessions were opened side by side: the first,
// then each of the others by its split, such as "v s2".
func newTestPanes(t *testing.T, width, height int, first string, splits ...string) *testDashboard {
	t.Helper()
	d := newTestDashboard(t, width, height, tuitest.Summaries()...)
	d.p.dashboard.Select(first)
	d.press("enter")
	d.fill(first)
	for _, s := range splits {
		key, session, _ := strings.Cut(s, " ")
		d.split(key, session)
	}
	return d
}

// split shows a session beside the one with the focus.
func (d *testDashboard) split(key, session string) {
	d.t.Helper()
	d.press("alt+w", key)
	d.wantText("split: choose the session")
	d.typeText(d.name(session))
	d.press("enter")
	d.fill(session)
}

// fill gives a session its content, once.
func (d *testDashboard) fill(session string) {
	d.t.Helper()
	o := d.p.sessions.find(session)
	if o == nil {
		d.t.Fatalf("%s is not open", session)
	}
	if o.view.Session().State.Session == "" {
		d.send(task.Message{To: o, Msg: paneContent(session, d.name(session))})
	}
}

// addText makes the agent of a session write.
func (d *testDashboard) addText(session, text string) {
	d.t.Helper()
	o := d.p.sessions.find(session)
	state := o.view.Session().State
	j := &tuitest.Journal{Seq: state.Seq, At: d.now, Turn: state.Turn.Turn}
	j.Text("t"+fmt.Sprint(j.Seq), text)
	d.send(task.Message{To: o, Msg: j.Take()})
}

// name returns the name of a session, or what stands for it.
func (d *testDashboard) name(session string) string {
	s, _ := d.p.dashboard.List().Get(session)
	return cmp.Or(s.Name, session)
}

// paneContent returns the updates of the content of a session.
func paneContent(session, name string) remote.Updates {
	updates := tuitest.Scenes[paneScenes[session]]().Take()
	for _, u := range updates {
		if u.Event != nil {
			u.Event.Session = session
			if u.Event.Type == protocol.SessionCreated {
				u.Event.Data = protocol.MustEncode(protocol.SessionCreatedData{Name: name, Agent: "gemini"})
			}
		}
	}
	return updates
}

// onScreen returns the sessions on the screen, the one with the focus first.
func (d *testDashboard) onScreen() string {
	var out []string
	for _, o := range d.p.sessions.onScreen() {
		out = append(out, o.id)
	}
	slices.Sort(out[min(1, len(out)):])
	return strings.Join(out, " ")
}

// wantOnScreen fails the test unless these sessions are on the screen.
func (d *testDashboard) wantOnScreen(want string) {
	d.t.Helper()
	if got := d.onScreen(); got != want {
		d.t.Errorf("on the screen are %q, want %q", got, want)
	}
}

func TestGoldenPanes(t *testing.T) {
	for _, size := range []struct{ width, height int }{{80, 24}, {120, 40}, {200, 60}} {
		t.Run(fmt.Sprintf("panes_%d", size.width), func(t *testing.T) {
			splits := []string{"v s2"}
			if size.width > 80 {
				splits = append(splits, "s s1")
			}
			if size.width > 120 {
				splits = append(splits, "v s5xyz789")
			}
			d := newTestPanes(t, size.width, size.height, "s3", splits...)
			tuitest.Golden(t, d.screen())
		})
	}
}

func TestSplitsShowSeveralSessionsLive(t *testing.T) {
	d := newTestPanes(t, 199, 60, "s1", "v s2", "s s3")
	d.wantOnScreen("s3 s1 s2")
	d.addText("s1", "news of the first")
	d.wantText("news of the first", "▸ release")
	for _, o := range d.p.sessions.all {
		if o.view.Hidden() {
			t.Errorf("%s is on the screen and hidden", o.id)
		}
	}
	d.press("alt+w", "w", "alt+w", "z")
	d.wantOnScreen("s1")
	d.wantText("1 of 3 · alt+w z shows all")
	if !d.p.sessions.find("s2").view.Hidden() || d.p.sessions.isShown(d.p.sessions.find("s3")) {
		t.Error("a covered session is not hidden")
	}
	d.press("alt+w", "z")
	d.wantOnScreen("s1 s2 s3")
	d.press("alt+w", "c")
	d.wantOnScreen("s2 s3")
	d.press("f2")
	d.wantOnScreen("")
	d.press("esc")
	d.wantOnScreen("s2 s3")
}

func TestTheDashboardSplitsWithTheSelectedSession(t *testing.T) {
	d := newTestPanes(t, 199, 60, "s1")
	d.press("f2")
	d.p.dashboard.Select("s2")
	d.press("alt+w", "s")
	d.wantOnScreen("s2 s1")
	d.press("f2")
	d.p.dashboard.Select("s3")
	d.press("enter") // in place of the one with the focus
	d.wantOnScreen("s3 s1")
	d.press("f2")
	d.p.dashboard.Select("s1")
	d.press("enter")
	d.wantOnScreen("s1 s3")
}

func TestKeysGoToTheSessionWithTheFocusAlone(t *testing.T) {
	d := newTestPanes(t, 199, 60, "s2", "v s3", "v s5xyz789")
	d.typeText("to the last,.=-")
	d.press("alt+w", "h")
	d.typeText("vjaze")
	d.press("alt+w", "h")
	d.typeText("to the first")
	d.wantText("> to the first", "> vjaze", "> to the last,.=-")
	d.press("backspace")
	d.wantText("> to the firs ", "> vjaze", "> to the last,.=-")
	if got := d.p.View().Cursor; got == nil || got.X < 12 || got.X > 20 {
		t.Errorf("the cursor is at %+v", got)
	}
	d.press("alt+w", "l", "alt+w", "l")
	if got := d.p.View().Cursor; got == nil || got.X < 150 {
		t.Errorf("the cursor is at %+v", got)
	}
}

func TestARequestBesideTakesNoKey(t *testing.T) {
	d := newTestDashboard(t, 199, 60, tuitest.Summaries()...)
	var guards []tea.Msg
	d.p.sessions.viewConfig.After = func(_ time.Duration, msg tea.Msg) tea.Cmd {
		guards = append(guards, msg)
		return nil
	}
	waitGrace := func() {
		d.now = d.now.Add(time.Minute)
		fired := guards
		guards = nil
		for _, msg := range fired {
			d.send(msg)
		}
	}
	d.p.dashboard.Select("s1")
	d.press("enter")
	d.fill("s1")
	d.press("tab") // the request of s1 has the focus
	waitGrace()
	d.wantText("y allow once")
	d.split("v", "s2")
	d.press("y", "n", "a", "enter", "1", "alt+1")
	d.press("alt+w", "h", "y", "y") // within the grace period
	for _, id := range []string{"s1", "s2"} {
		for _, c := range d.server.Sessions[id].Commands() {
			if c.Verb == protocol.DoApprove {
				t.Errorf("%s got the decision %+v", id, c.Data)
			}
		}
	}
	waitGrace()
	d.press("y")
	waitGrace() // the decision of a key is held
	approved := func(c tuitest.Command) bool { return c.Verb == protocol.DoApprove }
	if !slices.ContainsFunc(d.server.Sessions["s1"].Commands(), approved) {
		t.Error("a key of the session with the focus decides nothing")
	}
}

func TestTheMouseFocusesScrollsAndDragsBorders(t *testing.T) {
	d := newTestPanes(t, 199, 20, "s2", "v s3")
	d.send(tea.MouseClickMsg{X: 10, Y: 15, Button: tea.MouseLeft})
	d.wantOnScreen("s2 s3")
	d.send(tea.MouseClickMsg{X: 150, Y: 0, Button: tea.MouseLeft})
	d.send(tea.MouseReleaseMsg{X: 150, Y: 0, Button: tea.MouseLeft})
	d.wantOnScreen("s3 s2")
	for _, x := range []int{99, 70, 60} {
		if x == 99 {
			d.send(tea.MouseClickMsg{X: x, Y: 7, Button: tea.MouseLeft})
		} else {
			d.send(tea.MouseMotionMsg{X: x, Y: 9, Button: tea.MouseLeft})
		}
	}
	d.send(tea.MouseReleaseMsg{X: 60, Y: 9, Button: tea.MouseLeft})
	d.send(tea.MouseMotionMsg{X: 90, Y: 9, Button: tea.MouseLeft})
	if got := d.p.sessions.find("s2").size; got.Width != 60 || got.Height != 19 {
		t.Errorf("after a drag the size is %+v", got)
	}
	if got := d.p.sessions.find("s3").size; got.Width != 138 {
		t.Errorf("after a drag the size is %+v", got)
	}
	list := d.p.sessions.find("s2").view.Transcript().List
	before := list.Following()
	d.send(tea.MouseWheelMsg{X: 10, Y: 9, Button: tea.MouseWheelUp})
	if !before || list.Following() {
		t.Error("the wheel does not scroll the session below it")
	}
	d.wantOnScreen("s3 s2")
}

func TestCoveredSessionsAreDetachedAndThoseBesideAreNot(t *testing.T) {
	d := newTestPanes(t, 199, 60, "s1", "v s2", "v s3")
	detached := func() string {
		d.now = d.now.Add(detachAfter)
		d.send(detachMsg{})
		var out []string
		for _, o := range d.p.sessions.all {
			if o.detached {
				out = append(out, o.id)
			}
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	if got := detached(); got != "" {
		t.Errorf("%s is on the screen and detached", got)
	}
	for _, c := range []struct{ key, want string }{{"z", "s1 s2"}, {"w", "s2 s3"}, {"z", ""}} {
		d.press("alt+w", c.key)
		detached() // the time begins
		if got := detached(); got != c.want {
			t.Errorf("after %s: %q is detached, want %q", c.key, got, c.want)
		}
	}
}

func TestOnlyThePaneThatChangedIsLaidOutAgain(t *testing.T) {
	d := newTestPanes(t, 199, 60, "s1", "v s2")
	before := maps.Clone(d.p.panes.frame.panes)
	d.addText("s1", "more")
	after := d.p.panes.frame.panes
	if before["s2"] != after["s2"] || before["s1"] == after["s1"] {
		t.Error("want the changed pane laid out again, and only that")
	}
	d.p.Update(ui.ThemeMsg{Theme: "light"})
	d.p.View()
	if d.p.panes.frame.panes["s2"] == after["s2"] {
		t.Error("a new theme shows the lines of the last one")
	}
}

func TestASplitWithoutRoomIsRefused(t *testing.T) {
	d := newTestPanes(t, 80, 24, "s2", "v s3")
	d.press("alt+w", "v")
	d.wantText("no room")
	d.wantOnScreen("s3 s2")
	d = newTestPanes(t, 199, 60, "s1", "v s2", "s s3", "v s5xyz789")
	d.wantOnScreen("s5xyz789 s1 s2 s3")
	d.press("alt+w", "s")
	d.wantText("at most 4 sessions")
}

func TestASmallTerminalShowsTheSessionWithTheFocusAndKeepsTheLayout(t *testing.T) {
	d := newTestPanes(t, 120, 40, "s2", "v s3")
	before := d.screen()
	d.send(tea.WindowSizeMsg{Width: 60, Height: 20})
	d.wantOnScreen("s3")
	d.wantText("2 of 2 · alt+w w next")
	d.press("alt+w", "w")
	d.wantOnScreen("s2")
	d.press("alt+w", "w")
	d.send(tea.WindowSizeMsg{Width: 120, Height: 40})
	d.wantOnScreen("s3 s2")
	if got := d.screen(); got != before {
		t.Errorf("got\n%s\nwant\n%s", got, before)
	}
}

func TestTheWalkThroughWaitingSessionsRestoresTheLayout(t *testing.T) {
	d := newTestPanes(t, 199, 60, "s1", "v s2") // s3 waits
	d.server.SetPending(tuitest.CommandApproval())
	d.press("f8")
	if d.p.sessions.shown != nil {
		t.Error("a session is on the screen, want the request in the list")
	}
	d.wantText("approval · release")
	d.press("f8")
	for i := 0; d.p.navigation.visited != nil && i < 5; i++ {
		d.press("f8")
	}
	d.wantOnScreen("s2 s1")
	d.wantText("no other session needs you")
}

func TestADeletedSessionStaysUntilItIsHidden(t *testing.T) {
	d := newTestPanes(t, 199, 60, "s1", "v s2", "v s3")
	d.sendSummaries(protocol.Summary{Session: "s2", Deleted: true})
	d.wantOnScreen("s3 s1 s2")
	d.wantText("fix-tests · deleted")
	d.press("alt+w", "z")
	d.press("alt+w", "z")
	d.wantOnScreen("s3 s1")
	d.press("f2")
	d.sendSummaries(protocol.Summary{Session: "s3", Deleted: true})
	d.press("esc")
	d.wantOnScreen("s1")
}

func TestOneSessionHasNoPanes(t *testing.T) {
	d := newTestPanes(t, 199, 60, "s2")
	for _, key := range []string{"z", "c", "w", "+", "h"} {
		d.press("alt+w", key)
		d.wantText("there is one session · alt+w v shows another beside it")
	}
	if got := d.screen(); strings.Contains(got, "▸ fix-tests") {
		t.Errorf("got a title for one session:\n%s", got)
	}
	d.press("ctrl+k")
	d.typeText("pane-close")
	d.press("enter")
	d.wantText("there is one session · alt+w v shows another beside it")
}

func TestTheLayoutIsRestored(t *testing.T) {
	l := split.New("s1").Split("s2", false).Split("s3", true)
	var saved []split.Layout
	var hidden bool
	save := func(l split.Layout, h bool) error {
		saved, hidden = append(saved, l), h
		return nil
	}
	start := func(initial string, hidden bool) *program {
		o := Options{Parts: Parts{Panes: PaneOptions{Layout: l, Hidden: hidden, Save: save}}}
		p := testBuilder(t.Context(), o, time.Now, func() string { return "" }).newDashboard(tuitest.NewServer(), initial)
		noTimers(p)
		p.panes.width, p.panes.height = 200, 60
		p.Init()
		return p
	}
	p := start("", false)
	if got := len(p.sessions.onScreen()); got != 3 || p.sessions.shown.id != "s3" {
		t.Errorf("%d sessions are on the screen", got)
	}
	p.Update(tuitest.KeyPress("alt+w"))
	p.Update(tuitest.KeyPress("c"))
	err := p.panes.store.saveNow()
	if err != nil || len(saved) != 1 || strings.Join(saved[0].Sessions(), " ") != "s1 s2" || hidden {
		t.Errorf("saved %+v, hidden %v: %v", saved, hidden, err)
	}
	p.Update(tuitest.KeyPress("alt+w"))
	p.Update(tuitest.KeyPress("c"))
	if err := p.panes.store.saveNow(); err != nil || len(saved) != 2 || saved[1].Len() != 0 {
		t.Errorf("saved %+v after the last split: %v", saved, err)
	}
	p = start("", true)
	if p.sessions.shown != nil {
		t.Error("a layout that the dashboard covered is on the screen")
	}
	p.Update(tuitest.KeyPress("esc"))
	if got := len(p.sessions.onScreen()); got != 3 {
		t.Errorf("esc shows %d sessions", got)
	}
	p.Update(tuitest.KeyPress("f2"))
	if err := p.panes.store.saveNow(); err != nil || len(saved) != 2 {
		t.Errorf("saved %+v without a change: %v", saved, err)
	}
	p.Update(tuitest.KeyPress("esc"))
	if err := p.panes.store.saveNow(); err != nil || len(saved) != 3 || saved[2].Len() != 3 || hidden {
		t.Errorf("saved %+v, hidden %v: %v", saved, hidden, err)
	}
	p = start("s2", false)
	if got := len(p.sessions.onScreen()); got != 1 {
		t.Errorf("a named session is one of %d", got)
	}
	if err := p.panes.store.saveNow(); err != nil || len(saved) != 3 {
		t.Errorf("a named session replaces the layout: %+v (%v)", saved, err)
	}
}

func TestTheLayoutIsSavedAfterEachChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var saved []string
		fail := error(nil)
		save := func(l split.Layout, hidden bool) error {
			saved = append(saved, fmt.Sprint(l.Sessions(), hidden))
			return fail
		}
		o := Options{Parts: Parts{Panes: PaneOptions{Layout: split.New("s1").Split("s2", false), Save: save}}}
		p := startDashboardWith(t, o, tuitest.NewServer(), "")
		want := func(want ...string) {
			t.Helper()
			if !slices.Equal(saved, want) {
				t.Errorf("saved %q, want %q", saved, want)
			}
		}
		tuitest.Wait(time.Minute)
		want() // restored, not changed
		p.press("\x1bw+", "\x1bw-", "\x1bw-")
		tuitest.Wait(saveDelay)
		want("[s1 s2] false")
		p.press("\x1bOQ") // F2
		tuitest.Wait(time.Minute)
		want("[s1 s2] false", "[s1 s2] true")
		fail = errors.New("disk full")
		p.press("\x1b")
		tuitest.Wait(time.Second)
		p.wantText("disk full")
		fail = nil
		p.stop()
		want("[s1 s2] false", "[s1 s2] true", "[s1 s2] false", "[s1 s2] false")
	})
}

func TestSelectingWordsWorksInASplit(t *testing.T) {
	d := newTestPanes(t, 199, 60, "s2", "v s3")
	d.typeText("one two")
	d.press("alt+shift+left", "x")
	d.wantText("> one x")
	d.wantOnScreen("s3 s2")
	d.press("alt+w", "h")
	d.wantOnScreen("s2 s3")
}

func TestOnlySessionsOnTheScreenAreSubscribed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{Parts: Parts{Panes: PaneOptions{Layout: split.New("s1").Split("s2", false)}}}
		p := startDashboardWith(t, o, tuitest.NewServer(), "")
		tuitest.Wait(2 * detachAfter)
		want := func(want ...string) {
			t.Helper()
			if got := p.server.Subscribed(); !slices.Equal(got, want) {
				t.Errorf("subscribed are %v, want %v", got, want)
			}
		}
		want("s1", "s2")
		p.wantText("answer of s1", "answer of s2")
		p.press("\x1bwz")
		tuitest.Wait(2 * detachAfter)
		want("s2")
		p.press("\x1bwz")
		tuitest.Wait(2 * detachAfter)
		want("s1", "s2")
		if got := p.server.Resumptions(); len(got) != 1 || p.server.PeakSubscribers() != 1 {
			t.Errorf("%d sessions continue, want one", len(got))
		}
		p.stop()
	})
}

// The frame of a request has no sides beside the border of a split: its edges meet the border. It
// takes as many rows and columns as with sides.
func TestTheFrameOfARequestMeetsTheBorder(t *testing.T) {
	const frame = "╭╮╰╯"
	d := newTestPanes(t, 80, 30, "s2", "s s1")
	if got := d.screen(); !strings.Contains(got, "╭─ approval") || !strings.ContainsAny(got, frame) {
		t.Errorf("no frame without a border beside it:\n%s", got)
	}
	d = newTestPanes(t, 80, 24, "s2", "v s1")
	d.wantText("├─ approval", "│  command ▏ go mod tidy", "├─ tab decides")
	if got := d.screen(); strings.ContainsAny(got, frame) || strings.Contains(got, "││") {
		t.Errorf("two borders side by side:\n%s", got)
	}
	d.press("alt+w", "z")
	d.wantText("╭─ approval")
}

// One line goes to all sessions on the screen: the text, and enter.
func TestOneMessageGoesToAllPanes(t *testing.T) {
	d := newTestPanes(t, 199, 60, "s2", "v s3")
	d.typeText("/all run the tests")
	d.press("enter")
	for _, id := range []string{"s2", "s3"} {
		var sent []string
		for _, c := range d.server.Sessions[id].Commands() {
			if data, ok := c.Data.(protocol.SendData); ok {
				sent = append(sent, data.Text)
			}
		}
		if !slices.Equal(sent, []string{"run the tests"}) {
			t.Errorf("%s got %q", id, sent)
		}
	}
	d.typeText("/all")
	d.press("enter")
	d.wantText("write the message after /all")
}

// The sessions of one task are shown side by side.
func TestNewSessionsOfOneTaskAreSideBySide(t *testing.T) {
	d := newTestDashboard(t, 199, 60, tuitest.Summaries()...)
	d.run(d.p.handle(dashboard.CompareIntent{Sessions: []string{"s2", "s3"}, Failure: "third: not installed"}))
	d.fill("s2")
	d.fill("s3")
	d.wantOnScreen("s2 s3")
	d.wantText("third: not installed")
}
