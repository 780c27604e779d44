//go:build compat && linux

package compat

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/testbinary"
)

// head is the path of the binary of this version.
var head string

// older are the versions that this one works with.
var older []version

// A version is an older commit: the first compatible one, or a release.
type version struct{ name, program string }

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "agentctl-compat")
	if err == nil {
		defer os.RemoveAll(dir)
		if head, err = testbinary.Build(dir); err == nil {
			err = buildOlder(dir)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// buildOlder builds, below a directory, the commit that the file first names and every release after it:
// the tags v* that contain the commit.
func buildOlder(dir string) error {
	text, err := os.ReadFile("first")
	if err != nil {
		return err
	}
	commit := strings.TrimSpace(string(text))
	tags, err := exec.CommandContext(context.Background(), "git", "tag", "--list", "v*", "--contains", commit).Output()
	if err != nil {
		return fmt.Errorf("list the releases: %w", err)
	}
	for _, name := range append([]string{"first"}, strings.Fields(string(tags))...) {
		if name != "first" {
			commit = name
		}
		program, err := build(filepath.Join(dir, name), commit)
		if err != nil {
			return err
		}
		older = append(older, version{name, program})
	}
	return nil
}

// build builds a commit in a directory, as a release, and returns the path of the binary. The cache of the
// Go command has its packages, whatever the directory.
func build(dir, commit string) (string, error) {
	line := `set -e; mkdir "$1"; (cd ../../.. && git archive "$0") | tar x -C "$1"; cd "$1"; CGO_ENABLED=0 go build -trimpath -o agentctl ./cmd/agentctl`
	build := exec.CommandContext(context.Background(), "bash", "-o", "pipefail", "-c", line, commit, dir)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w (is the clone complete?)\n%s", commit, err, out)
	}
	return filepath.Join(dir, "agentctl"), nil
}

// withEach runs a test with the binary of each older version.
func withEach(t *testing.T, test func(t *testing.T, old string)) {
	for _, v := range older {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			test(t, v.program)
		})
	}
}

// agentScript asks for an approval on request, and repeats every other message.
const agentScript = `{"agent":"echo","version":"1"}
{"on":"ask"}
{"ask":"command","title":"Remove the build","command":"rm -rf build","then":[{"say":"removed"}],"else":[{"say":"kept"}]}
{"on":"slow"}
{"say":"one two three four five six seven eight","delay":"10s"}
{"on":"*"}
{"think":"as told"}
{"tool":"shell","output":"done","exit":0}
{"say":"You said: {message}"}
`

// A machine is a data directory with a server.
type machine struct {
	*testbinary.Server
	t *testing.T
}

func newMachine(t *testing.T, program string) *machine {
	dir, err := os.MkdirTemp("/tmp", "ac") // short: a path of a Unix socket has at most 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	m := &machine{&testbinary.Server{T: t, Program: program, Dir: dir}, t}
	m.write("echo.script", agentScript)
	config, err := json.Marshal(map[string]any{
		"default_agent": "echo",
		"agents":        map[string]any{"echo": map[string]any{"script": filepath.Join(m.Dir, "echo.script")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m.write("config", string(config))
	t.Cleanup(m.KillAll)
	m.Start()
	return m
}

func (m *machine) write(name, text string) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.Dir, name), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// run runs a command line of a program at the machine and returns its output. It must exit with a code.
func (m *machine) run(program string, code int, line ...string) string {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, line...)
	cmd.Env = []string{
		"HOME=" + m.Dir, "XDG_RUNTIME_DIR=" + m.Dir, "AGENTCTL_DATA=" + filepath.Join(m.Dir, "data"), "USER=ann",
		"PATH=" + os.Getenv("PATH"),
	}
	cmd.Dir = m.Dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != code {
		m.t.Fatalf("%s %s: exit code %d (%v), want %d\n%s%s", filepath.Base(filepath.Dir(program)), strings.Join(line, " "),
			got, err, code, &stdout, &stderr)
	}
	return stdout.String()
}

// converse uses a session with a program: it sends, queues, decides, interrupts and reads.
func (m *machine) converse(program, name string) {
	m.t.Helper()
	m.run(program, 0, "new", "--name", name)
	if got := m.run(program, 0, "send", name, "hello", "--wait", "-o", "json"); !strings.Contains(got, `"text":"You said: hello"`) {
		m.t.Errorf("the answer is %s", got)
	}
	m.run(program, 6, "send", name, "ask", "--wait")
	if got := m.run(program, 0, "approvals", name, "-o", "json"); !strings.Contains(got, `"command":"rm -rf build"`) {
		m.t.Errorf("the request is %s", got)
	}
	m.run(program, 0, "send", name, "queued", "--no-wait")
	m.run(program, 0, "approve", name, "--reason", "old")
	m.run(program, 0, "wait", name, "--for", "idle")
	m.run(program, 0, "send", name, "slow", "--no-wait")
	m.run(program, 0, "interrupt", name, "--queue", "keep")
	m.run(program, 0, "label", name, "team=blue")
}

// texts are what readers must print of a session, whichever version reads.
var texts = []string{"You said: hello", "removed", "You said: queued", "slow"}

// read returns all events of a session, and checks what the other readers print.
func (m *machine) read(program, name string) string {
	m.t.Helper()
	history := m.run(program, 0, "history", name)
	for _, text := range texts {
		if !strings.Contains(history, text) {
			m.t.Errorf("%s: history lacks %q:\n%s", name, text, history)
		}
	}
	var status struct {
		Status string
		Seq    uint64
	}
	if err := json.Unmarshal([]byte(m.run(program, 0, "status", name, "-o", "json")), &status); err != nil ||
		status.Status != "idle" || status.Seq == 0 {
		m.t.Errorf("%s: status %+v, %v", name, status, err)
	}
	events := m.run(program, 0, "events", name)
	if lines := strings.Count(events, "\n"); uint64(lines) != status.Seq {
		m.t.Errorf("%s: %d events, want %d", name, lines, status.Seq)
	}
	return events
}

// TestClientsAndServersOfBothVersionsWorkTogether: a session that one client made is read by both, and
// both get the same bytes.
func TestClientsAndServersOfBothVersionsWorkTogether(t *testing.T) {
	withEach(t, func(t *testing.T, old string) {
		for _, c := range []struct{ name, server, client string }{
			{"first client, this server", head, old},
			{"this client, first server", old, head},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				m := newMachine(t, c.server)
				m.converse(c.client, "fix")
				if a, b := m.read(old, "fix"), m.read(head, "fix"); a != b {
					t.Errorf("the old version reads\n%s\nand this one\n%s", a, b)
				}
				m.Stop()
			})
		}
	})
}

// TestAnUpgradeKeepsTheSessions: a server of the first version is killed, or stops, and this one serves its
// data directory: it has the events under their positions, and the sessions continue.
func TestAnUpgradeKeepsTheSessions(t *testing.T) {
	withEach(t, func(t *testing.T, old string) {
		for _, killed := range []bool{false, true} {
			t.Run(fmt.Sprint("killed: ", killed), func(t *testing.T) {
				t.Parallel()
				m := newMachine(t, old)
				m.converse(old, "fix")
				before := m.read(old, "fix")
				if killed {
					m.Kill()
				} else {
					m.Stop()
				}
				m.Program = head
				m.Start()
				if after := m.read(head, "fix"); after != before {
					t.Errorf("events before the upgrade\n%s\nand after it\n%s", before, after)
				}
				m.run(head, 0, "send", "fix", "later", "--wait")
				if after := m.read(head, "fix"); !strings.HasPrefix(after, before) || len(after) == len(before) {
					t.Errorf("events before a turn\n%s\nand after it\n%s", before, after)
				}
				if history := m.run(head, 0, "history", "fix"); !strings.Contains(history, "You said: later") {
					t.Errorf("history lacks the turn after the upgrade:\n%s", history)
				}
				m.converse(head, "second")
				m.Stop()
				m.run(head, 0, "check")
			})
		}
	})
}

// limitScript ends the first message of a session at a usage limit.
const limitScript = `{"turn":1}
{"emit":"limits.updated","data":{"windows":[{"name":"five_hour","percent":100}]}}
{"end":"limited","message":"used up","resets_in":"1h"}
{"on":"*"}
{"say":"You said: {message}"}
`

// TestTheFirstClientUnderstandsALimit: the reason of a turn and of a hold, and a type of event, that the first
// version does not know.
func TestTheFirstClientUnderstandsALimit(t *testing.T) {
	withEach(t, func(t *testing.T, old string) {
		m := newMachine(t, head)
		m.write("limit.script", limitScript)
		m.run(old, 0, "new", "--name", "fix", "--agent", "script:limit.script")
		m.run(old, 7, "send", "fix", "hello", "--wait")
		m.run(old, 0, "send", "fix", "queued", "--no-wait")
		m.run(old, 6, "wait", "fix", "--for", "idle")
		if got := m.run(old, 0, "status", "fix"); !strings.Contains(got, "limited") || !strings.Contains(got, "limit ") {
			t.Errorf("the status is %s", got)
		}
		if got := m.run(old, 6, "attach", "fix", "--plain"); !strings.Contains(got, "limited") {
			t.Errorf("attached: %s", got)
		}
		m.run(old, 0, "queue", "release", "fix")
		m.run(old, 0, "wait", "fix", "--for", "idle")
		for _, program := range []string{old, head} {
			history := m.run(program, 0, "history", "fix")
			for _, text := range []string{"You said: hello", "You said: queued"} {
				if !strings.Contains(history, text) {
					t.Errorf("history lacks %q:\n%s", text, history)
				}
			}
		}
		if a, b := m.run(old, 0, "events", "fix"), m.run(head, 0, "events", "fix"); a != b {
			t.Errorf("the old version reads\n%s\nand this one\n%s", a, b)
		}
		m.Stop()
	})
}

// steerScript takes one message into a turn.
const steerScript = `{"steers":true}
{"on":"lead"}
{"steer":1}
{"say":"I {steered}"}
{"on":"*"}
{"say":"You said: {message}"}
`

// TestTheFirstClientReadsASteeredMessage: it follows a turn that a message joins, and reads it later.
func TestTheFirstClientReadsASteeredMessage(t *testing.T) {
	withEach(t, func(t *testing.T, old string) {
		m := newMachine(t, head)
		m.write("steer.script", steerScript)
		m.run(old, 0, "new", "--name", "fix", "--agent", "script:steer.script")
		m.run(old, 0, "send", "fix", "lead", "--no-wait")
		m.run(head, 0, "send", "fix", "--steer", "use go", "--no-wait")
		m.run(old, 0, "wait", "fix", "--for", "idle")
		m.run(old, 0, "send", "fix", "later", "--wait")
		if got := m.run(old, 0, "attach", "fix", "--plain"); !strings.Contains(got, "I use go") {
			t.Errorf("attached: %s", got)
		}
		for _, program := range []string{old, head} {
			history := m.run(program, 0, "history", "fix")
			for _, text := range []string{"lead", "I use go", "You said: later"} {
				if !strings.Contains(history, text) {
					t.Errorf("history lacks %q:\n%s", text, history)
				}
			}
		}
		if a, b := m.run(old, 0, "events", "fix"), m.run(head, 0, "events", "fix"); a != b || !strings.Contains(a, `"message.steered"`) {
			t.Errorf("the old version reads\n%s\nand this one\n%s", a, b)
		}
		m.Stop()
	})
}

// TestTheFirstServerRefusesASteeredMessage: it does not know the delivery, and takes nothing.
func TestTheFirstServerRefusesASteeredMessage(t *testing.T) {
	t.Parallel()
	old := older[0].program
	m := newMachine(t, old)
	m.run(head, 0, "new", "--name", "fix")
	m.run(head, 0, "send", "fix", "slow", "--no-wait")
	m.run(head, 1, "send", "fix", "--steer", "use go", "--no-wait")
	if got := m.run(head, 0, "events", "fix"); strings.Contains(got, "use go") {
		t.Errorf("events %s", got)
	}
	m.run(head, 0, "interrupt", "fix")
	m.run(head, 0, "send", "fix", "hello", "--wait")
	m.Stop()
}
