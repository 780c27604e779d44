package dashboard

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// fakeSeveral is the servers local, box and gpu.
type fakeSeveral struct {
	*fakeServer
	created []string // SERVER AGENT CWD of each call of CreateOn
	sandbox protocol.Sandbox
	retries int
}

// SandboxOf offers sandboxes on the server box alone.
func (s *fakeSeveral) SandboxOf(server string) *protocol.Sandbox {
	if server == "box" {
		return &protocol.Sandbox{Mode: protocol.SandboxReadOnly}
	}
	return nil
}

func (s *fakeSeveral) Servers() []string { return []string{"local", "box", "gpu"} }
func (s *fakeSeveral) Retry()            { s.retries++ }

func (s *fakeSeveral) ServerOf(session string) string {
	if name, _, ok := strings.Cut(session, "/"); ok {
		return name
	}
	return "local"
}

func (s *fakeSeveral) ServerConns(context.Context) iter.Seq[remote.ServerConn] { panic("not used") }

func (s *fakeSeveral) AgentsOf(server string) []string { return []string{server + "-agent"} }

func (s *fakeSeveral) CreateOn(
	_ context.Context, server string, d protocol.CreateData,
) (r protocol.CreateResult, err error) {
	s.created, s.sandbox = append(s.created, fmt.Sprintf("%s %q %q", server, d.Agent, d.CWD)), d.Sandbox
	r.Session = "box/new"
	return r, nil
}

// severalSessions returns three sessions of each server, one that waits.
func severalSessions() []protocol.Summary {
	var out []protocol.Summary
	for i, prefix := range []string{"", "box/", "gpu/"} {
		for k, s := range sessions(3) {
			s.Session, s.Name = prefix+s.Session, fmt.Sprintf("task-%d%d", i, k)
			out = append(out, s)
		}
	}
	return out
}

// newSeveralRig returns a dashboard of three servers, all connected.
func newSeveralRig(t *testing.T, width, height int) (*rig, *fakeSeveral) {
	t.Helper()
	fake := &fakeServer{}
	several := &fakeSeveral{fakeServer: fake}
	r := newRigOf(t, several, fake, width, height)
	r.conn("box", remote.Conn{State: remote.Connected})
	r.conn("gpu", remote.Conn{State: remote.Connected})
	r.put(severalSessions()...)
	return r, several
}

// conn sends a connection of a server other than home.
func (r *rig) conn(server string, conn remote.Conn) {
	r.send(ServerConnsMsg{{Server: server, Conn: conn}})
}

// lose disconnects a server at a time of the clock.
func (r *rig) lose(server string, at time.Time) {
	before := now
	now = at
	r.conn(server, remote.Conn{State: remote.Reconnecting, Attempt: 1, Reason: "connection refused"})
	now = before
}

func TestGoldenSeveralServers(t *testing.T) {
	for _, size := range [][2]int{{60, 24}, {80, 24}, {120, 40}, {200, 60}} {
		t.Run(fmt.Sprintf("servers_%dx%d", size[0], size[1]), func(t *testing.T) {
			r, _ := newSeveralRig(t, size[0], size[1])
			r.lose("box", now.Add(-31*time.Minute))
			r.d.Select("box/s001")
			r.send(ui.TimerMsg{At: now})
			tuitest.Golden(t, r.screen())
		})
	}
}

func TestRowsOfALostServerStayWithTheirAgeAndTakeNoCommand(t *testing.T) {
	r, _ := newSeveralRig(t, 110, 24)
	r.pendingRequests()
	r.lose("box", now.Add(-31*time.Minute))
	r.d.Select("box/s001")
	r.press("p") // hides the preview, which needs no command
	r.want("task-11", "task-12", "as of 31m ago", "box as of 31m ago: connection refused · F5 tries again now")
	before := len(r.server.calls)
	for _, key := range []string{"y", "N", "i", "m", "R", "X", "l", "enter"} {
		r.press(key)
		r.want("box is not connected: connection refused")
		if r.d.overlays.Top() != nil {
			t.Errorf("%s opens an overlay", key)
		}
	}
	if len(r.server.calls) != before || len(r.intents) != 0 {
		t.Errorf("calls %v, intents %v; want none", r.server.calls[before:], r.intents)
	}
	r.d.Select("s001")
	r.press("y")
	r.want("make s001")
}

func TestAServerThatIsBackTakesCommandsAndKeepsTheSelection(t *testing.T) {
	r, _ := newSeveralRig(t, 110, 24)
	r.d.Select("box/s002")
	r.lose("box", now)
	r.put(severalSessions()[:3]...)
	r.conn("box", remote.Conn{State: remote.Connected})
	for _, s := range severalSessions()[3:] {
		r.put(s)
	}
	if got := r.d.Selected(); got != "box/s002" {
		t.Fatalf("%s is selected", got)
	}
	r.wantNo("as of")
	r.press("enter")
	if !slices.Equal(r.intents, []any{OpenIntent{"box/s002"}}) {
		t.Errorf("intents %v", r.intents)
	}
}

func TestADecisionForALostServerIsRefusedWithTheReason(t *testing.T) {
	defer func(at time.Time) { now = at }(now)
	r, _ := newSeveralRig(t, 110, 24)
	r.pendingRequests()
	r.d.Select("box/s001")
	r.press("y")
	r.want("make box/s001")
	r.press("y") // within the grace period
	now = now.Add(approval.Grace)
	r.fireTimers()
	r.lose("box", now)
	r.press("y")
	r.want("box is not connected: connection refused")
	if got := r.changes(); len(got) != 0 {
		t.Errorf("sent %v", got)
	}
}

func TestAnActionOnSessionsOfSeveralServersReportsTheLostOnes(t *testing.T) {
	r, _ := newSeveralRig(t, 110, 24)
	r.lose("box", now)
	for _, id := range []string{"s000", "box/s000", "gpu/s000"} {
		r.d.table.toggleMark(id)
	}
	r.press("m")
	r.typeText("go on")
	r.press("enter")
	r.want("2 sent · 1 failed: task-10: box is not connected: connection refused")
	got := r.changes()
	slices.Sort(got)
	if want := []string{"gpu/s000 send", "s000 send"}; !slices.Equal(got, want) {
		t.Errorf("sent %v, want %v", got, want)
	}
	if left := slices.Collect(maps.Keys(r.d.table.marked)); !slices.Equal(left, []string{"box/s000"}) {
		t.Errorf("marks %v", left)
	}
}

func TestAStalledServerDelaysNoOther(t *testing.T) {
	r, _ := newSeveralRig(t, 110, 24)
	release := make(chan struct{})
	r.server.reply = func(session string, _ protocol.Verb, _, _ any) error {
		if strings.HasPrefix(session, "box/") {
			<-release
		}
		return nil
	}
	for _, id := range []string{"box/s000", "box/s001", "box/s002", "s000", "gpu/s000"} {
		r.d.table.toggleMark(id)
	}
	var marked []protocol.Summary
	marked = append(marked, r.d.table.targets()...)
	done := make(chan tea.Msg)
	for _, cmd := range r.d.bulk.run(sendAction("go on", r.d.NewID), marked)().(tea.BatchMsg) {
		go func() { done <- cmd() }()
	}
	r.send(<-done)
	r.send(<-done)
	r.want("2 sent · 3 not answered yet")
	r.press("down") // clears the status: keys work
	close(release)
	r.send(<-done)
	r.want("5 sent")
}

func TestTheFilterAndTheJumpKnowServers(t *testing.T) {
	r, _ := newSeveralRig(t, 110, 24)
	r.press("/")
	r.want("label: dir: server:")
	r.typeText("server:b")
	r.press("enter")
	r.want("sessions 3", "task-10")
	r.wantNo("task-00")
	r.press("esc", "alt+g")
	r.typeText("gpu")
	r.want("task-20")
	r.wantNo("box ·")

	single := newRig(t, 110, 24, sessions(3)...)
	single.press("/")
	single.want("label: dir:")
	single.wantNo("server")
}

func TestANewSessionHasAServer(t *testing.T) {
	r, several := newSeveralRig(t, 110, 24)
	r.press("+")
	r.want("server", "local · →: box, gpu", "(default) · →: claude", "/home/ada")
	r.press("tab", "right")
	r.want("(default) · →: box-agent", "(server's)")
	r.wantNo("/home/ada")
	r.press("tab", "right", "enter")
	if want := []string{`box "box-agent" ""`}; !slices.Equal(several.created, want) {
		t.Errorf("created %q, want %q", several.created, want)
	}
	if !slices.Equal(r.intents, []any{OpenIntent{"box/new"}}) {
		t.Errorf("intents %v", r.intents)
	}
	r.lose("box", now)
	r.press("+", "tab", "right", "enter")
	r.want("box is not connected: connection refused")
	if len(several.created) != 1 {
		t.Errorf("created %q", several.created)
	}
}

func TestTheKeyRetriesLostServers(t *testing.T) {
	r, several := newSeveralRig(t, 110, 24)
	r.press("f5")
	r.want("connected")
	if several.retries != 0 {
		t.Error("a retry although all are connected")
	}
	r.lose("gpu", now)
	r.press("f5")
	if several.retries != 1 {
		t.Errorf("%d retries, want 1", several.retries)
	}
}

func TestAServerThatWasNeverThereHasNoRowsAndSaysWhy(t *testing.T) {
	fake := &fakeServer{}
	r := newRigOf(t, &fakeSeveral{fakeServer: fake}, fake, 110, 24)
	r.put(severalSessions()[0])
	r.want("task-00")
	r.wantNo("no news")
	r.conn("gpu", remote.Conn{State: remote.Offline}) // not tried yet
	r.wantNo("no news")
	const refused = "connect to ws://192.168.100.100:7777/v1/ws: dial tcp: connection refused"
	r.conn("box", remote.Conn{State: remote.Connecting, Attempt: 2, Reason: refused})
	r.want("box no news yet: …", "dial tcp: connection refused · F5 tries again now")
	r.conn("box", remote.Conn{State: remote.Connected})
	r.conn("gpu", remote.Conn{State: remote.Offline, Reason: "ssh: no such host"})
	r.want("gpu no news yet: ssh: no such host")
}

func TestThePreviewOfALostServerSaysWhy(t *testing.T) {
	r, _ := newSeveralRig(t, 130, 40)
	r.lose("box", now)
	before := len(r.server.calls)
	r.d.Select("box/s002")
	r.send(ui.TimerMsg{At: now})
	r.want("box is not connected: connection refused")
	if len(r.server.calls) != before {
		t.Errorf("the preview asks %v", r.server.calls[before:])
	}
	r.conn("box", remote.Conn{State: remote.Connected})
	r.want("answer of box/s002")
}
