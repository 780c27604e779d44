//go:build interop

package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/internal/dev/fakemodel"
	"agentctl/internal/dev/testbinary"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// agentTimeout bounds every wait for a real agent.
const agentTimeout = 90 * time.Second

func TestMain(m *testing.M) {
	if os.Getenv(mcpVariable) != "" { // with the environment of its agent
		serveMCP()
		os.Exit(0)
	}
	if file := os.Getenv(tapVariable); file != "" {
		os.Exit(tap(file))
	}
	os.Exit(testbinary.Run(m))
}

// A testSession is a session with a real agent: fake model, agent, server and client.
type testSession struct {
	t       *testing.T
	agent   *realAgent
	model   *fakemodel.Handler
	sandbox protocol.Sandbox
	mcp     obj    // MCP servers of the configuration
	home    string // home directory of the agent and the server
	data    string // data directory of the server
	cwd     string
	session string
	frames  string // file of the agent's tap; empty in a sandbox, which has no place for it

	server *exec.Cmd
	log    *os.File // log of the server
	client *wsclient.Client
	events *wsclient.Subscription
	seen   []protocol.Event

	decision protocol.ApproveData // the last one
	decided  string               // the tool call of its request
}

// newTestSession creates a session with the agent, whose model answers according to script.
func newTestSession(t *testing.T, agent *realAgent, script fakemodel.Script) *testSession {
	t.Helper()
	r := &testSession{t: t, agent: agent, model: fakemodel.New(script), home: shortDir(t), cwd: shortDir(t)}
	r.create()
	return r
}

// newSandboxSession is newTestSession in the sandbox workspace. The home directory is no temporary
// one, which the sandbox would hide.
func newSandboxSession(t *testing.T, agent *realAgent, script fakemodel.Script) *testSession {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp(cache, "agentctl-interop-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	r := &testSession{
		t: t, agent: agent, model: fakemodel.New(script), sandbox: protocol.Sandbox{Mode: protocol.SandboxWorkspace},
		home: home, cwd: filepath.Join(home, "work"),
	}
	if err := os.Mkdir(r.cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	r.create()
	return r
}

// create starts the model, the server and the client, and creates the session.
func (r *testSession) create() {
	r.t.Helper()
	r.serve()
	var made protocol.CreateResult
	r.do(protocol.DoCreate, protocol.CreateData{Agent: r.agent.name, CWD: r.cwd, Sandbox: r.sandbox}, &made)
	r.follow(made)
}

// serve starts the model, the server and the client.
func (r *testSession) serve() {
	t, agent := r.t, r.agent
	t.Helper()
	endpoint := httptest.NewServer(r.model)
	t.Cleanup(endpoint.Close)
	r.data = shortDir(t)
	config, frames := agent.config(t, r.home, r.cwd, endpoint.URL, r.sandbox.Mode == "")
	r.frames = frames
	r.writeConfig("config.json", obj{"agents": obj{agent.name: config}, "mcp": r.mcp})
	var err error
	if r.log, err = os.Create(filepath.Join(r.data, "log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.log.Close() })
	r.start()
	t.Cleanup(func() {
		if t.Failed() {
			b, _ := os.ReadFile(r.log.Name())
			t.Logf("the server's log\n%s", b)
		}
	})
	t.Cleanup(func() {
		if frames != "" {
			judgeFrames(t, readFrames(t, frames), agent.acp, toAgent)
		}
	})
	t.Cleanup(r.stop)
	r.client = wsclient.New("unix://"+filepath.Join(r.data, "agentctl.sock"), wsclient.Options{Name: "tester"})
	t.Cleanup(func() { _ = r.client.Close() })
}

// follow selects a created session.
func (r *testSession) follow(made protocol.CreateResult) {
	r.session = made.Session
	since := protocol.Position{Epoch: made.Position.Epoch}
	r.events = r.client.Subscribe(r.session, wsclient.SubscribeOptions{Since: &since, Raw: true})
}

// withT reports failures to t until t ends.
func (r *testSession) withT(t *testing.T) *testSession {
	outer := r.t
	r.t = t
	t.Cleanup(func() { r.t = outer })
	return r
}

// shortDir returns a temporary directory with a path short enough for a socket. What processes that still end write
// into it fails no test.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "i")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (r *testSession) writeConfig(name string, v any) {
	r.t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(filepath.Join(r.data, name), b, 0o600)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// start starts the server and returns when it is ready.
func (r *testSession) start() {
	r.t.Helper()
	r.server = exec.Command(
		testbinary.Program, "serve", "--data", r.data, "--config", filepath.Join(r.data, "config.json"), "-o",
		"json", "-v",
	)
	r.server.Stderr = r.log
	r.server.Env = append(os.Environ(), "HOME="+r.home)
	out, err := r.server.StdoutPipe()
	if err == nil {
		err = r.server.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	if err != nil {
		r.t.Fatalf("start the server: %v", err)
	}
}

// stop shuts the server down and checks that no agent process is left.
func (r *testSession) stop() { r.endServer(syscall.SIGTERM) }

// kill kills the server. Its agents end by themselves or at the next start.
func (r *testSession) kill() { r.endServer(syscall.SIGKILL) }

func (r *testSession) endServer(how syscall.Signal) {
	r.t.Helper()
	if r.server == nil {
		return
	}
	agents := r.children()
	if err := r.server.Process.Signal(how); err != nil {
		r.t.Error(err)
	}
	err := r.server.Wait()
	r.server = nil
	if how != syscall.SIGTERM {
		r.t.Cleanup(func() { r.checkGone(agents) })
		return
	}
	if err != nil {
		r.t.Errorf("the server ended with %v", err)
	}
	r.checkGone(agents)
}

// backdate makes the conversations of the agent look older, if it needs that to load them.
func (r *testSession) backdate() {
	r.t.Helper()
	if r.agent.backdate == nil {
		return
	}
	if err := r.agent.backdate(r.home); err != nil {
		r.t.Fatal(err)
	}
}

// children returns the server's child processes. Each is an agent and a process group leader.
func (r *testSession) children() []int {
	r.t.Helper()
	out, err := exec.Command("ps", "-o", "pid=", "--ppid", strconv.Itoa(r.server.Process.Pid)).Output()
	if err != nil {
		return nil // none
	}
	var pids []int
	for _, f := range strings.Fields(string(out)) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			r.t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// checkGone checks that no process of the groups runs. It ignores zombies and processes that are
// exiting, which have no arguments any more.
func (r *testSession) checkGone(groups []int) {
	r.t.Helper()
	out, err := exec.Command("ps", "-e", "-o", "pgid=,stat=,args=").Output()
	if err != nil {
		r.t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 3 || strings.HasPrefix(f[1], "Z") || strings.HasPrefix(f[2], "[") {
			continue
		}
		if pid, err := strconv.Atoi(f[0]); err == nil && slices.Contains(groups, pid) {
			r.t.Errorf("process group %d still runs: %s", pid, line)
		}
	}
}

// do executes a command, which must succeed, and decodes its result.
func (r *testSession) do(verb protocol.Verb, data, result any) {
	r.t.Helper()
	if err := r.try(verb, data, result); err != nil {
		r.t.Fatalf("%s: %v; the log is\n%s", verb, err, r.logText())
	}
}

// try executes a command and decodes its result.
func (r *testSession) try(verb protocol.Verb, data, result any) error {
	ctx, cancel := context.WithTimeout(r.t.Context(), agentTimeout)
	defer cancel()
	c := protocol.Command{Command: verb, Session: r.session, Data: protocol.MustEncode(data)}
	return r.client.Do(ctx, c, result)
}

func (r *testSession) send(text string) {
	r.t.Helper()
	r.do(protocol.DoSend, protocol.SendData{Text: text}, &protocol.SendResult{})
}

// waitEvent returns the next event of a type.
func (r *testSession) waitEvent(kind protocol.Type) protocol.Event {
	r.t.Helper()
	return r.waitEventWhere(string(kind), func(e *protocol.Event) bool { return e.Type == kind })
}

func (r *testSession) waitEventWhere(what string, ok func(*protocol.Event) bool) protocol.Event {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), agentTimeout)
	defer cancel()
	for it, err := range r.events.Events(ctx) {
		if err != nil {
			r.t.Fatal(err)
		}
		if it.Event == nil || !it.Event.Durable() {
			continue
		}
		r.seen = append(r.seen, *it.Event)
		if ok(it.Event) {
			return *it.Event
		}
		if it.Event.Type == protocol.ApprovalRequested {
			r.decideAlike(*it.Event)
		}
	}
	r.t.Fatalf("no %s; the log is\n%s", what, r.logText())
	return protocol.Event{}
}

// waitTurnEnd waits for the end of the turn and checks its reason.
func (r *testSession) waitTurnEnd(want protocol.Reason) {
	r.t.Helper()
	e := r.waitEvent(protocol.TurnEnded)
	var d protocol.TurnEndedData
	r.decode(e, &d)
	if d.Reason != want {
		r.t.Fatalf("the turn ended as %+v, want %s; the log is\n%s", d, want, r.logText())
	}
}

func (r *testSession) decode(e protocol.Event, v any) {
	r.t.Helper()
	if err := e.Decode(v); err != nil {
		r.t.Fatal(err)
	}
}

// agentText returns the agent's text since the last user message, as far as events were waited for.
func (r *testSession) agentText() string {
	r.t.Helper()
	var b strings.Builder
	for _, e := range r.seen {
		switch e.Type {
		case protocol.MessageUser:
			b.Reset()
		case protocol.TextDelta:
			var d protocol.PartDeltaData
			r.decode(e, &d)
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

// count returns the number of events of a type since the last user message, as far as events were
// waited for.
func (r *testSession) count(kind protocol.Type) int {
	n := 0
	for _, e := range r.seen {
		switch e.Type {
		case protocol.MessageUser:
			n = 0
		case kind:
			n++
		}
	}
	return n
}

// logText returns the events seen so far, for failure messages.
func (r *testSession) logText() string {
	var b strings.Builder
	for _, e := range r.seen {
		line := string(e.AppendJSON(nil))
		b.WriteString(line[:min(len(line), 400)] + "\n")
	}
	return b.String()
}
