//go:build interop

package thirdparty

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// patience bounds every wait for what is not ours.
const patience = 60 * time.Second

// binary is the program itself, built once.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "agentctl")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "agentctl")
	if out, err := exec.Command("go", "build", "-o", binary, "agentctl/cmd/agentctl").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("build agentctl: %v\n%s", err, out))
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plays runs a client of theirs against the program as a server, whose agent plays agent.script.
func plays(t *testing.T, dialect, client string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	script, err := filepath.Abs("agent.script")
	must(t, err)
	ours := exec.Command(binary, "serve", "--data", t.TempDir(), "--default-agent", "script:"+script, "--listen-dialect", dialect+"=127.0.0.1:0,open", "-o", "json")
	stdout, err := ours.StdoutPipe()
	must(t, err)
	must(t, ours.Start())
	defer func() {
		_ = ours.Process.Signal(syscall.SIGTERM)
		if err := ours.Wait(); err != nil {
			t.Errorf("the server: %v", err)
		}
	}()
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	must(t, err)
	var ready struct{ Dialects map[string][]string }
	must(t, json.Unmarshal(line, &ready))
	out, err := exec.CommandContext(ctx, "python3", "-B", client, ready.Dialects[dialect][0]).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A python is a server of theirs. What it is told it prints, a message a line.
type python struct {
	t     *testing.T
	args  []string
	port  string
	cmd   *exec.Cmd
	wrong bytes.Buffer
	done  chan struct{}
	mu    sync.Mutex
	heard []string
}

// start runs a program at any port; the same one after a restart.
func start(t *testing.T, args ...string) *python {
	t.Helper()
	p := &python{t: t, args: args, port: "0"}
	p.start()
	t.Cleanup(p.kill)
	return p
}

func (p *python) start() {
	p.t.Helper()
	p.cmd = exec.Command("python3", append([]string{"-B", p.args[0], p.port}, p.args[1:]...)...)
	p.cmd.Stderr = &p.wrong
	stdout, err := p.cmd.StdoutPipe()
	must(p.t, err)
	must(p.t, p.cmd.Start())
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 4<<20)
	if !lines.Scan() {
		_ = p.cmd.Wait()
		p.t.Fatalf("%s: %s", p.args[0], p.wrong.String())
	}
	p.port, p.done = lines.Text(), make(chan struct{})
	go func() {
		defer close(p.done)
		for lines.Scan() {
			p.mu.Lock()
			p.heard = append(p.heard, lines.Text())
			p.mu.Unlock()
		}
	}()
}

// kill ends the server as a crash does.
func (p *python) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
	_ = p.cmd.Wait()
	if p.t.Failed() {
		p.t.Logf("%s heard\n%s\n%s", p.args[0], strings.Join(p.said(), "\n"), p.wrong.String())
	}
}

func (p *python) said() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.heard...)
}

// over connects our client.
func (p *python) over(dialect string) *wsclient.Client {
	c := wsclient.New("ws://"+net.JoinHostPort("127.0.0.1", p.port)+"/ws", wsclient.Options{Dialect: dialect, Name: "ada", Rand: func() float64 { return 0 }})
	p.t.Cleanup(func() { _ = c.Close() })
	return c
}

// A seat is our client following a session, and what a screen would show of it.
type seat struct {
	t       *testing.T
	client  *wsclient.Client
	session string
	in      chan wsclient.Item
	errs    chan error
	state   *protocol.State
	story   *protocol.Transcript
	ways    []string // in which it was attached
}

func sit(t *testing.T, c *wsclient.Client, session string) *seat {
	t.Helper()
	s := &seat{t: t, client: c, session: session, in: make(chan wsclient.Item, 1<<14), errs: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for it, err := range c.Subscribe(session, wsclient.SubscribeOptions{}).Events(ctx) {
			if err != nil {
				s.errs <- err
				return
			}
			s.in <- it
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	s.until("attached", func() bool { return s.state != nil })
	return s
}

// until takes in what comes until something is so.
func (s *seat) until(what string, so func() bool) {
	s.t.Helper()
	late := time.After(patience)
	for !so() {
		select {
		case it := <-s.in:
			s.take(it)
		case err := <-s.errs:
			s.t.Fatalf("%s: %v", what, err)
		case <-late:
			s.t.Fatalf("not %s: %s\n%s", what, protocol.MustEncode(s.state), protocol.MustEncode(s.story))
		}
	}
}

func (s *seat) take(it wsclient.Item) {
	s.t.Helper()
	if at := it.Attached; at != nil {
		s.ways = append(s.ways, strings.TrimSpace(at.Mode+" "+at.Reason))
		if at.Snapshot != nil {
			s.state, s.story = at.Snapshot.State, &protocol.Transcript{}
		}
	}
	if it.Event != nil && it.Event.Durable() {
		must(s.t, s.state.Apply(it.Event))
		_, err := s.story.Apply(it.Event)
		must(s.t, err)
	}
}

// do does a command that must succeed.
func do[R any](s *seat, verb protocol.Verb, data any) R {
	s.t.Helper()
	r, err := try[R](s, verb, data)
	if err != nil {
		s.t.Fatalf("%s: %v", verb, err)
	}
	return r
}

func try[R any](s *seat, verb protocol.Verb, data any) (R, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	return wsclient.Call[R](ctx, s.client, verb, s.session, data)
}

func (s *seat) send(text string) {
	s.t.Helper()
	do[protocol.SendResult](s, protocol.DoSend, protocol.SendData{Text: text})
}

// asked waits for a request.
func (s *seat) asked() protocol.Approval {
	s.t.Helper()
	s.until("asked", func() bool { return len(s.state.Approvals) > 0 })
	return s.state.Approvals[0]
}

func (s *seat) decides(a protocol.Approval, d protocol.ApproveData) protocol.Outcome {
	s.t.Helper()
	d.Request = a.Request
	return do[protocol.ApproveResult](s, protocol.DoApprove, d).Outcome
}

// over waits until n turns have ended and returns the last one.
func (s *seat) over(n int) *protocol.Turn {
	s.t.Helper()
	s.until(fmt.Sprintf("%d turns over", n), func() bool {
		return len(s.story.Turns) >= n && s.story.Turns[n-1].End != nil && s.state.Turn == nil
	})
	return s.story.Turns[n-1]
}

// told is a turn in a line: what was said and done in it, and how it ended.
func told(t *protocol.Turn) string {
	var b strings.Builder
	for _, it := range t.Items {
		switch {
		case it.Kind == protocol.ItemText:
			b.Write(it.Text)
		case it.Kind == protocol.ItemReasoning:
			fmt.Fprintf(&b, "(%s)", it.Text)
		case it.Kind == protocol.ItemTool && it.Tool.End != nil:
			fmt.Fprintf(&b, "[%s %s %s %s]", it.Tool.Name, it.Tool.End.Status, it.Text, it.Tool.End.Error)
		case it.Kind == protocol.ItemApproval && it.Resolved != nil:
			fmt.Fprintf(&b, "<%s>", it.Resolved.Outcome)
		case it.Kind == protocol.ItemEvent && it.Type != protocol.ContextUpdated:
			fmt.Fprintf(&b, "{%s}", it.Type)
		}
	}
	reason := protocol.Reason("open")
	if t.End != nil {
		reason = t.End.Reason
	}
	return b.String() + " | " + string(reason)
}

// contains fails unless all words are in what was got.
func contains(t *testing.T, got string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(got, w) {
			t.Errorf("got %s, want %s in it", got, w)
		}
	}
}
