//go:build interop

package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
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

	"agentctl/internal/fakemodel"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// patience bounds every wait for a real agent.
const patience = 90 * time.Second

// program is the path of agentctl, built once.
var program string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "interop")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program = filepath.Join(dir, "agentctl")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/agentctl").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build agentctl: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// rig is a session on a real agent: model, agent, server and client.
type rig struct {
	t       *testing.T
	agent   *realAgent
	model   *fakemodel.Handler
	home    string // of the agent
	data    string // of the server
	cwd     string
	session string

	server *exec.Cmd
	log    *os.File // of the server
	client *wsclient.Client
	events *wsclient.Subscription
	seen   []protocol.Event
}

// open makes a session on the agent, whose model answers as script says.
func open(t *testing.T, agent *realAgent, script fakemodel.Script) *rig {
	t.Helper()
	r := &rig{t: t, agent: agent, model: fakemodel.New(script), home: t.TempDir(), cwd: t.TempDir()}
	endpoint := httptest.NewServer(r.model)
	t.Cleanup(endpoint.Close)
	r.data = shortDir(t)
	r.write("config.json", obj{"agents": obj{agent.name: agent.config(t, r.home, endpoint.URL)}})
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
	t.Cleanup(r.stop)
	r.client = wsclient.New("unix://"+filepath.Join(r.data, "agentctl.sock"), wsclient.Options{Name: "tester"})
	t.Cleanup(func() { _ = r.client.Close() })
	var made protocol.CreateResult
	r.do(protocol.DoCreate, protocol.CreateData{Agent: agent.name, CWD: r.cwd}, &made)
	r.follow(made)
	return r
}

// follow makes a new session the rig's.
func (r *rig) follow(made protocol.CreateResult) {
	r.session = made.Session
	since := protocol.Position{Epoch: made.Position.Epoch}
	r.events = r.client.Subscribe(r.session, wsclient.SubscribeOptions{Since: &since, Raw: true})
}

// in makes the rig fail t for the time of t.
func (r *rig) in(t *testing.T) *rig {
	outer := r.t
	r.t = t
	t.Cleanup(func() { r.t = outer })
	return r
}

// shortDir is a directory whose path leaves room for the name of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "i")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (r *rig) write(name string, v any) {
	r.t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(filepath.Join(r.data, name), b, 0o600)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// start starts the server and returns when it serves.
func (r *rig) start() {
	r.t.Helper()
	r.server = exec.Command(program, "serve", "--data", r.data, "--config", filepath.Join(r.data, "config.json"), "-o", "json", "-v")
	r.server.Stderr = r.log
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

// stop drains the server and checks that nothing of the agent is left.
func (r *rig) stop() { r.end(syscall.SIGTERM) }

// kill kills the server, whose agent notices by itself or is ended at the next start.
func (r *rig) kill() { r.end(syscall.SIGKILL) }

func (r *rig) end(how syscall.Signal) {
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
		r.t.Cleanup(func() { r.gone(agents) })
		return
	}
	if err != nil {
		r.t.Errorf("the server ended with %v", err)
	}
	r.gone(agents)
}

// children are the processes that the server started: leaders of groups, each an agent.
func (r *rig) children() []int {
	r.t.Helper()
	out, err := exec.Command("ps", "-o", "pid=", "--ppid", strconv.Itoa(r.server.Process.Pid)).Output()
	if err != nil {
		return nil // there are none
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

// gone checks that nothing of the groups runs. What is dead and waits for init to notice is nothing.
func (r *rig) gone(groups []int) {
	r.t.Helper()
	out, err := exec.Command("ps", "-e", "-o", "pgid=,stat=,args=").Output()
	if err != nil {
		r.t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 2 || strings.HasPrefix(f[1], "Z") {
			continue
		}
		if pid, err := strconv.Atoi(f[0]); err == nil && slices.Contains(groups, pid) {
			r.t.Errorf("process group %d is left over: %s", pid, line)
		}
	}
}

// do carries out a command and decodes its result.
func (r *rig) do(verb protocol.Verb, data, result any) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	c := protocol.Command{Command: verb, Session: r.session, Data: protocol.MustEncode(data)}
	if err := r.client.Do(ctx, c, result); err != nil {
		r.t.Fatalf("%s: %v; the log is\n%s", verb, err, r.story())
	}
}

func (r *rig) send(text string) {
	r.t.Helper()
	r.do(protocol.DoSend, protocol.SendData{Text: text}, &protocol.SendResult{})
}

// await returns the first event of the type after those awaited before.
func (r *rig) await(kind protocol.Type) protocol.Event {
	r.t.Helper()
	return r.awaitWhere(string(kind), func(e *protocol.Event) bool { return e.Type == kind })
}

func (r *rig) awaitWhere(what string, ok func(*protocol.Event) bool) protocol.Event {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
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
	}
	r.t.Fatalf("waited for %s in vain; the log is\n%s", what, r.story())
	return protocol.Event{}
}

// turnEnded waits for the turn's end and checks its reason.
func (r *rig) turnEnded(want protocol.Reason) {
	r.t.Helper()
	e := r.await(protocol.TurnEnded)
	var d protocol.TurnEndedData
	r.decode(e, &d)
	if d.Reason != want {
		r.t.Fatalf("the turn ended as %+v, want %s; the log is\n%s", d, want, r.story())
	}
}

func (r *rig) decode(e protocol.Event, v any) {
	r.t.Helper()
	if err := e.Decode(v); err != nil {
		r.t.Fatal(err)
	}
}

// said joins the text that was awaited, from the last user message on.
func (r *rig) said() string {
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

// count counts the awaited events of a type, from the last user message on.
func (r *rig) count(kind protocol.Type) int {
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

// story is what was awaited, for people.
func (r *rig) story() string {
	var b strings.Builder
	for _, e := range r.seen {
		line := string(e.AppendJSON(nil))
		b.WriteString(line[:min(len(line), 400)] + "\n")
	}
	return b.String()
}
