package screen

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentctl/internal/dev/screenshot"
	"agentctl/internal/dev/verbtest"
	"agentctl/protocol"
	"agentctl/tui"
	"agentctl/tui/remote"
	"agentctl/wsclient"
)

// A dashboardTest is the dashboard of ann on a real server, and the client of another user, bob.
type dashboardTest struct {
	t      *testing.T
	ctx    context.Context
	other  *wsclient.Client
	dialer *testDialer
	keys   io.Writer
	screen *verbtest.Screen
}

// A subscribedAdapter has sessions that stay subscribed while they are hidden, however long a test
// takes.
type subscribedAdapter struct{ Server }

func (s subscribedAdapter) Session(id string) remote.Session {
	return struct{ remote.Session }{s.Server.Session(id)} // no remote.Resumer
}

// dashboardSize is the size of the screen of a dashboardTest.
var dashboardSize = tui.Size{Width: 100, Height: 30}

// lines returns the screen.
func (d *dashboardTest) lines() string {
	d.t.Helper()
	s, err := screenshot.Render(d.screen.Bytes(), dashboardSize.Width, dashboardSize.Height)
	if err != nil {
		d.t.Fatal(err)
	}
	var b strings.Builder
	for y := range dashboardSize.Height {
		b.WriteString(s.Line(y) + "\n")
	}
	return b.String()
}

// shows reports whether the screen has a text.
func (d *dashboardTest) shows(text string) bool { return strings.Contains(d.lines(), text) }

// openDashboard opens a dashboard on a server with sessions of those names.
func openDashboard(t *testing.T, names ...string) *dashboardTest {
	t.Helper()
	return openDashboardOf(t, `{"on":"*"}`+"\n"+`{"say":"answer to {message}"}`, "", names...)
}

// openDashboardOf opens a dashboard on a server whose agents follow a script in a directory.
func openDashboardOf(t *testing.T, script, dir string, names ...string) *dashboardTest {
	t.Helper()
	dial := embeddedDial(t, script)
	d := &dashboardTest{t: t, ctx: testContext(t), dialer: &testDialer{dial: dial}, screen: &verbtest.Screen{}}
	d.other = wsclient.New("ws://test", wsclient.Options{Dial: dial, Name: "bob"})
	screenClient := wsclient.New("ws://test", wsclient.Options{
		Dial: d.dialer.Dial, Name: "ann",
		Rand: func() float64 { return 0 },
	})
	for _, name := range names {
		if _, err := wsclient.Call[protocol.CreateResult](d.ctx, d.other, protocol.DoCreate, "",
			protocol.CreateData{Agent: "tour", Name: name, CWD: dir}); err != nil {
			t.Fatal(err)
		}
	}
	if err := screenClient.Connect(d.ctx); err != nil {
		t.Fatal(err)
	}
	keys, typing := io.Pipe()
	d.keys = typing
	// longer than the test's, which ends before the last keys are read
	ctx, leave := context.WithTimeout(context.Background(), time.Minute)
	done := make(chan error, 1)
	go func() {
		done <- tui.RunDashboard(ctx, subscribedAdapter{Server{Client: screenClient}}, "", tui.Options{
			Input: keys, Output: d.screen,
			Env: []string{"TERM=xterm-256color"}, NoColor: true, Size: dashboardSize,
		})
	}()
	t.Cleanup(func() {
		var left sync.WaitGroup
		left.Go(func() { _, _ = io.WriteString(typing, "\x03\x03") }) // after the keys that are not read yet
		if err := <-done; err != nil {
			t.Error(err)
		}
		leave()
		_ = typing.Close()
		left.Wait()
		_, _ = screenClient.Close(), d.other.Close()
	})
	return d
}

// until waits until a condition holds.
func (d *dashboardTest) until(condition string, holds func() bool) {
	d.t.Helper()
	for !holds() {
		if _, err := wsclient.Call[protocol.Empty](d.ctx, d.other, protocol.DoPing, "", nil); err != nil {
			d.t.Fatalf("waiting until %s: %v\n%s", condition, err, d.lines())
		}
	}
}

func (d *dashboardTest) press(keys string) {
	d.t.Helper()
	if _, err := io.WriteString(d.keys, keys); err != nil {
		d.t.Fatal(err)
	}
}

// enter opens the session of a name, from the dashboard or from another session.
func (d *dashboardTest) enter(name string, fromDashboard bool) {
	d.t.Helper()
	if !fromDashboard {
		d.press("\x1bOQ")
	}
	d.press("/" + strings.Repeat("\x7f", 16) + name + "\r\r") // replaces the filter
	d.until("the screen is attached to "+name, func() bool { return d.attached(name) != "" })
}

// attached returns the connection of the screen if it is subscribed to a session, else "".
func (d *dashboardTest) attached(name string) string {
	d.t.Helper()
	r, err := wsclient.Call[protocol.SnapshotResult](d.ctx, d.other, protocol.DoSnapshot, name, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	i := slices.IndexFunc(r.Clients, func(c protocol.Client) bool { return c.By.Name == "ann" })
	if i < 0 {
		return ""
	}
	return r.Clients[i].Client
}

func TestADroppedLinkSubscribesTheThreeThatWereAndNoOther(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, "alpha", "bravo", "charlie", "delta")
	d.until("all sessions are shown", func() bool { return d.shows("delta") && d.shows("alpha") })
	for i, name := range []string{"alpha", "bravo", "charlie", "delta"} {
		d.enter(name, i == 0)
	}
	kept := []string{"bravo", "charlie", "delta"}
	d.until("the least recent session is unsubscribed", func() bool { return d.attached("alpha") == "" })
	var before string
	d.until("the newest session is subscribed", func() bool { // it is not while its preview is replaced
		before = d.attached("delta")
		return before != ""
	})
	for _, name := range kept {
		d.until(name+" is subscribed", func() bool { return d.attached(name) == before })
	}

	d.dialer.cut(false)
	text := func(i int) string { return strings.Repeat(string(rune('1'+i)), 9) }
	for i, name := range kept {
		if _, err := wsclient.Call[protocol.SendResult](d.ctx, d.other, protocol.DoSend, name,
			protocol.SendData{Text: text(i)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range kept {
		d.until(name+" is subscribed again", func() bool { c := d.attached(name); return c != "" && c != before })
	}
	if d.attached("alpha") != "" {
		t.Error("the session that was dropped is subscribed again")
	}
	for i, name := range kept {
		d.enter(name, false)
		d.until("the missed text of "+name+" is shown", func() bool { return d.shows(text(i)) })
	}
}

func TestADashboardCreatesASessionAndShowsIt(t *testing.T) {
	d := openDashboard(t)
	d.until("the hint is shown", func() bool { return d.shows("There is no session yet") })
	d.press("+fresh\ttour\t\tgood day\r")
	var all protocol.ListResult
	d.until("the session exists", func() bool {
		var err error
		if all, err = wsclient.Call[protocol.ListResult](d.ctx, d.other, protocol.DoList, "", nil); err != nil {
			t.Fatal(err)
		}
		return len(all.Sessions) == 1
	})
	if s := all.Sessions[0]; s.Name != "fresh" || s.Agent != "tour" {
		t.Errorf("created %+v", s)
	}
	d.until("the session is shown", func() bool {
		return d.attached("fresh") != "" &&
			d.shows("answer to good day")
	})
}

func TestARefusedSessionIsAnErrorWithAdvice(t *testing.T) {
	d := openDashboard(t, "one")
	_, err := Server{Client: d.other}.Create(d.ctx, protocol.CreateData{Agent: "tour", Name: "one"})
	if protocol.CodeOf(err) != protocol.CodeNameTaken || !strings.Contains(remote.Advice(err), "agentctl ls") {
		t.Errorf("%v, advice %q", err, remote.Advice(err))
	}
}
