//go:build unix

package tool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"agentctl/server/agent/llm"
)

func TestCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"sub/f": ""})
	for name, test := range map[string]struct {
		in   args
		text string
		code int
	}{
		"output":        {args{"command": "echo a; echo b >&2"}, "a\nb", 0},
		"no output":     {args{"command": "true"}, "[no output]", 0},
		"an exit code":  {args{"command": "echo x; exit 3"}, "x\n[exit code 3]", 3},
		"a signal":      {args{"command": "kill -9 $$"}, "[exit code 137]", 137},
		"the directory": {args{"command": "pwd"}, r.dir, 0},
		"another":       {args{"command": "ls", "workdir": "sub"}, "f", 0},
		"no input":      {args{"command": "cat; echo end"}, "end", 0},
		"no terminal":   {args{"command": "echo $TERM $PAGER"}, "dumb cat", 0},
		"bad bytes":     {args{"command": `printf 'a\377b'`}, "a\uFFFDb", 0},
		"not found":     {args{"command": "no-such-program 2>/dev/null"}, "[exit code 127]", 127},
		"a daemon":      {args{"command": "sleep 600 & echo started"}, "started", 0},
	} {
		p, result, err := r.run(t.Context(), "shell", test.in)
		if err != nil || result.Text != test.text || *result.ExitCode != test.code ||
			result.Failed != (test.code != 0) {
			t.Errorf("%s: %q, %v, %v", name, result.Text, *result.ExitCode, err)
		}
		if p.Safe || p.Contained || p.Request.Command != test.in["command"] || p.Request.CWD == "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for name, in := range map[string]args{
		"empty": {"command": ""}, "no directory": {"command": "ls", "workdir": "none"},
		"a file": {"command": "ls", "workdir": "sub/f"},
	} {
		if _, _, err := r.run(t.Context(), "shell", in); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if r.host.started != 11 || len(r.host.running) != 0 {
		t.Errorf("%d groups, running %v", r.host.started, r.host.running)
	}
}

func TestAnEditedCommandIsWhatRuns(t *testing.T) {
	r := newRig(t, map[string]string{"sub/f": ""})
	c := r.call(args{"command": "echo sent", "workdir": "sub"})
	p, err := r.tool("shell").Preview(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	c.Command = "echo edited; ls"
	if result, err := p.Run(t.Context(), func(string) {}); err != nil || result.Text != "edited\nf" {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestALongOutputIsCutInTheMiddleAndReadable(t *testing.T) {
	r := newRig(t, nil)
	c := r.call(args{"command": "seq 1 20000"})
	p, err := r.tool("shell").Preview(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var live strings.Builder
	result, err := p.Run(t.Context(), func(text string) { live.WriteString(text) })
	if err != nil || len(result.Text) > shownBytes+200 || !strings.HasPrefix(result.Text, "1\n2\n") ||
		!strings.HasSuffix(result.Text, "\n20000") || !strings.Contains(result.Text,
		"were left out; read output:1 has all") {
		t.Fatalf("%d bytes, %v: %.300s", len(result.Text), err, result.Text)
	}
	if !strings.HasSuffix(live.String(), "20000\n") {
		t.Errorf("live: %d bytes", live.Len())
	}
	if got := r.must("read", args{"path": "output:1", "offset": 10_000, "limit": 1}); !strings.Contains(got,
		"\t10000\n") {
		t.Errorf("read: %q", got)
	}
	dir := r.outputs.dir
	if err := r.outputs.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the outputs are left: %v", err)
	}
}

// A command that writes much continues to its end. The model gets the beginning and the end of the output.
func TestACommandThatWritesMuchContinues(t *testing.T) {
	r := newRig(t, nil)
	c := r.call(args{"command": "echo first; yes | head -c 20000000; echo last > done; echo last; exit 3"})
	p, err := r.tool("shell").Preview(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	live := 0
	result, err := p.Run(t.Context(), func(text string) { live += len(text) })
	if err != nil || *result.ExitCode != 3 || !strings.HasPrefix(result.Text, "first\n") ||
		!strings.HasSuffix(result.Text, "y\nlast\n[exit code 3]") || len(result.Text) > shownBytes+200 || r.get("done") != "last\n" {
		t.Errorf("%.100q, %v", result.Text[max(0, len(result.Text)-100):], err)
	}
	whole, err := r.outputs.read(outputScheme + "1")
	if err != nil || len(whole) > maxOutput+200 || !strings.Contains(whole, "bytes were left out: the output was too long") {
		t.Errorf("%d bytes are kept, %v", len(whole), err)
	}
	if live > liveBytes+64<<10 {
		t.Errorf("%d bytes live", live)
	}
}

// children are processes of every kind, whose numbers are written to files.
const children = `sh -c 'trap "" TERM; echo $$ > one; while :; do sleep 1; done' &
set -m # a group of its own
sh -c 'echo $$ > two; sleep 600' &
while [ ! -s one ] || [ ! -s two ]; do sleep 0.01; done
echo ready; wait`

func TestAnInterruptedCommandLeavesNoProcess(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	result, err := r.runChildren(ctx, args{"command": children}, cancel)
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(result.Text, "ready") {
		t.Errorf("%+v, %v", result, err)
	}
	r.checkGone()
}

func TestACommandHasATimeLimit(t *testing.T) {
	t.Parallel()
	ready := false
	for limit := 200 * time.Millisecond; !ready; limit *= 4 { // until the children start within it
		r := newRig(t, nil)
		in := args{"command": children, "timeout_ms": limit.Milliseconds()}
		result, err := r.runChildren(t.Context(), in, func() { ready = true })
		if err != nil || !result.Failed || !strings.Contains(result.Text, "longer than "+limit.String()) {
			t.Fatalf("%+v, %v", result, err)
		}
		if ready {
			r.checkGone()
		}
	}
}

// runChildren runs a command and calls ready when it says so.
func (r *rig) runChildren(ctx context.Context, in args, ready func()) (llm.ToolResult, error) {
	r.t.Helper()
	c := r.call(in)
	p, err := r.tool("shell").Preview(ctx, c)
	if err != nil {
		r.t.Fatal(err)
	}
	var called atomic.Bool
	result, err := p.Run(ctx, func(text string) {
		if strings.Contains(text, "ready") && called.CompareAndSwap(false, true) {
			ready()
		}
	})
	return result, err
}

// checkGone waits until the children have exited: they are killed, and reaped by another process.
func (r *rig) checkGone() {
	r.t.Helper()
	for _, name := range []string{"one", "two"} {
		b, err := os.ReadFile(filepath.Join(r.dir, name))
		if err != nil {
			r.t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil {
			r.t.Fatal(err)
		}
		waitGone(r.t, pid)
	}
	if len(r.host.running) != 0 {
		r.t.Errorf("groups %v", r.host.running)
	}
}

// waitGone waits until a process has exited.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.After(time.Minute)
	for alive(pid) {
		select {
		case <-deadline:
			t.Fatalf("process %d still runs", pid)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

// A process that left the group of a command and writes on ends soon after the command, which
// returns.
func TestAProcessThatHoldsTheOutputOfACommandEndsWithIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	began := time.Now()
	_, result, err := r.run(t.Context(), "shell", args{
		"command": `setsid sh -c 'while :; do echo tick; sleep 0.1; done' & echo pid=$!; sleep 0.3`,
	})
	if err != nil || result.Failed || !strings.Contains(result.Text, "tick") {
		t.Fatalf("%+v, %v", result, err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %s", took)
	}
	_, rest, _ := strings.Cut(result.Text, "pid=")
	pid, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	waitGone(t, n)
}
