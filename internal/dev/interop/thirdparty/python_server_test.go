//go:build interop

package thirdparty

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"agentctl/internal/dev/interop/interoptest"
	"agentctl/internal/dev/testbinary"
	"agentctl/protocol"
	"agentctl/wsclient"
)

func TestMain(m *testing.M) { os.Exit(testbinary.Run(m)) }

// runPythonClient runs a third-party client against agentctl's server, whose agent runs
// agent.script.
func runPythonClient(t *testing.T, dialect, program string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*interoptest.Timeout)
	defer cancel()
	script, err := filepath.Abs("agent.script")
	interoptest.Must(t, err)
	server := interoptest.Serve(t, t.TempDir(), script, "--listen-dialect", dialect+"=127.0.0.1:0,open")
	defer server.Stop()
	out, err := exec.CommandContext(ctx, "python3", "-B", program, server.Dialects[dialect][0]).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A pythonServer is a third-party server. It prints its port and then each message it receives,
// one a line.
type pythonServer struct {
	t      *testing.T
	args   []string
	port   string
	cmd    *exec.Cmd
	stderr bytes.Buffer
	done   chan struct{} // closed when all output was read

	mu       sync.Mutex
	received []string
}

// startPythonServer runs a program with arguments. It keeps its port over restarts.
func startPythonServer(t *testing.T, args ...string) *pythonServer {
	t.Helper()
	p := &pythonServer{t: t, args: args, port: "0"}
	p.start()
	t.Cleanup(p.kill)
	return p
}

func (p *pythonServer) start() {
	p.t.Helper()
	p.cmd = exec.Command("python3", append([]string{"-B", p.args[0], p.port}, p.args[1:]...)...)
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	interoptest.Must(p.t, err)
	interoptest.Must(p.t, p.cmd.Start())
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 4<<20)
	if !lines.Scan() {
		_ = p.cmd.Wait()
		p.t.Fatalf("%s: %s", p.args[0], p.stderr.String())
	}
	p.port, p.done = lines.Text(), make(chan struct{})
	go func() {
		defer close(p.done)
		for lines.Scan() {
			p.mu.Lock()
			p.received = append(p.received, lines.Text())
			p.mu.Unlock()
		}
	}()
}

// kill ends the server without a shutdown.
func (p *pythonServer) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
	_ = p.cmd.Wait()
	if p.t.Failed() {
		p.t.Logf("%s received\n%s\n%s", p.args[0], strings.Join(p.messages(), "\n"), p.stderr.String())
	}
}

// messages returns the messages received so far.
func (p *pythonServer) messages() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.received...)
}

// client connects agentctl's client.
func (p *pythonServer) client(dialect string) *wsclient.Client {
	url := "ws://" + net.JoinHostPort("127.0.0.1", p.port) + "/ws"
	return interoptest.Connect(p.t, url, wsclient.Options{
		Dialect: dialect, Name: "ada", Rand: func() float64 { return 0 },
	})
}

// A follower is an agentctl client that follows a session.
type follower struct{ *interoptest.Follower }

// follow attaches to a session. It does not read the history, which not every server has.
func follow(t *testing.T, c *wsclient.Client, session string) *follower {
	t.Helper()
	return &follower{interoptest.Follow(t, c, session, false)}
}

func do[R any](f *follower, verb protocol.Verb, data any) R {
	f.T.Helper()
	return interoptest.Do[R](f.Follower, verb, data)
}

// waitApproval waits for a pending approval.
func (f *follower) waitApproval() protocol.Approval {
	f.T.Helper()
	f.WaitFor("waiting for an approval", func() bool { return len(f.State.Approvals) > 0 })
	return f.State.Approvals[0]
}

func (f *follower) decide(a protocol.Approval, d protocol.ApproveData) protocol.Outcome {
	f.T.Helper()
	d.Request = a.Request
	return do[protocol.ApproveResult](f, protocol.DoApprove, d).Outcome
}

// waitTurns waits until n turns have ended and returns the last one.
func (f *follower) waitTurns(n int) *protocol.Turn {
	f.T.Helper()
	f.WaitFor(fmt.Sprintf("at the end of %d turns", n), func() bool {
		turns := f.Transcript.Turns
		return len(turns) >= n && turns[n-1].End != nil && f.State.Turn == nil
	})
	return f.Transcript.Turns[n-1]
}

// summarizeTurn renders a turn in one line: its items and how it ended.
func summarizeTurn(t *protocol.Turn) string {
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
