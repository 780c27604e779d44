//go:build documents && unix

package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/internal/dev/fakeacp"
	"agentctl/internal/dev/testbinary"
)

// limit bounds every command.
const limit = time.Minute

// tools are the programs that the documents use, in addition to agentctl and agents.
var tools = strings.Fields("awk basename bash cat chmod cp curl cut date dirname env git grep gzip head jq less ls " +
	"make mkdir mktemp mv rm sed sh sleep sort tail tar tee test timeout tmux touch tr true wc xargs")

// agents are the programs of agents in the documents. All are fakeacp.
var agents = []string{"claude-agent-acp", "gemini", "my-agent"}

// programs is the directory of all of them, the PATH of the commands.
var programs string

func TestMain(m *testing.M) {
	if slices.Contains(agents, filepath.Base(os.Args[0])) {
		os.Exit(fakeacp.Main())
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("/tmp", "ad") // short: a path of a Unix socket has at most 108 bytes
	if err == nil {
		defer os.RemoveAll(dir)
		programs = filepath.Join(dir, "bin")
		err = install(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// install fills the directory of programs.
func install(dir string) error {
	if err := os.Mkdir(programs, 0o755); err != nil {
		return err
	}
	binary, err := testbinary.Build(dir)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	link := map[string]string{"agentctl": binary}
	for _, name := range agents {
		link[name] = self
	}
	for _, name := range tools {
		if link[name], err = exec.LookPath(name); err != nil {
			return err
		}
	}
	for name, path := range link {
		if err := os.Symlink(path, filepath.Join(programs, name)); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(programs, "ssh"), []byte(sshProgram), 0o755)
}

// sshProgram runs the command with the home of the machine that BOX names.
const sshProgram = `#!/bin/sh
for last; do :; done
exec env HOME="$BOX" XDG_RUNTIME_DIR="$BOX" sh -c "$last"
`

// A machine is a user with a home. Commands run in its directory "work".
type machine struct {
	t    *testing.T
	home string
	env  map[string]string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	home, err := os.MkdirTemp(filepath.Dir(programs), "h")
	must(t, err)
	m := &machine{t: t, home: home, env: map[string]string{
		"HOME": home, "PATH": programs, "XDG_RUNTIME_DIR": home, "TERM": "xterm-256color", "LANG": "C.UTF-8",
		"USER": "ann", "TMPDIR": home, "BOX": home, "SHELL": filepath.Join(programs, "bash"),
	}}
	must(t, os.Mkdir(m.path(""), 0o755))
	must(t, os.CopyFS(home, os.DirFS("testdata")))
	must(t, os.Mkdir(filepath.Join(home, ".gemini"), 0o700)) // gemini is logged in
	must(t, os.WriteFile(filepath.Join(home, ".gemini", "oauth_creds.json"), []byte("{}"), 0o600))
	t.Cleanup(func() { m.run("agentctl stop", "") })
	return m
}

// path returns the path of a file of the machine.
func (m *machine) path(name string) string { return filepath.Join(m.home, "work", name) }

// copyDocs makes the documents files of the machine, as an unpacked archive has them.
func (m *machine) copyDocs() {
	m.t.Helper()
	must(m.t, os.CopyFS(m.path("docs"), os.DirFS(filepath.Join(root(), "docs"))))
}

// A result is what a command printed, and its exit code.
type result struct {
	stdout, stderr string
	code           int
}

// command returns a line for bash in a separate process group, which is killed with ctx.
func (m *machine) command(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(programs, "bash"), "-c", line)
	cmd.Dir = m.path("")
	for _, name := range slices.Sorted(maps.Keys(m.env)) {
		cmd.Env = append(cmd.Env, name+"="+m.env[name])
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// run runs a line to its end.
func (m *machine) run(line, stdin string) result {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := m.command(ctx, line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	code := exitCode(cmd.Run())
	if ctx.Err() != nil {
		m.t.Errorf("%s: not done after %v", line, limit)
	}
	return result{stdout.String(), stderr.String(), code}
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal())
		}
		return exit.ExitCode()
	}
	return -1
}

// start starts a line that does not exit without a signal and returns after its first line of
// output. The returned function interrupts it and returns its result.
func (m *machine) start(line string) func() result {
	m.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var stderr bytes.Buffer
	cmd := m.command(ctx, line)
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	must(m.t, err)
	must(m.t, cmd.Start())
	first := make([]byte, 1)
	if _, err := io.ReadFull(out, first); err != nil {
		m.t.Errorf("%s: no output: %v", line, err)
	}
	rest := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(out)
		rest <- b
	}()
	return func() result {
		defer cancel()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
		stdout := string(first) + string(<-rest)
		return result{stdout, stderr.String(), exitCode(cmd.Wait())}
	}
}

// ports are the ports in the documents. Each is replaced by a free one, so that tests can run side
// by side with programs that have them, and the machine "box" in a URL by this one.
var ports = regexp.MustCompile(`:(7777|3001|8080|12345)\b`)

// A network maps ports of the documents to those in use.
type network struct{ free map[string]string }

func (n *network) replace(t *testing.T, line string) string {
	if n.free == nil {
		n.free = map[string]string{}
	}
	line = strings.ReplaceAll(line, "//box:", "//127.0.0.1:")
	return ports.ReplaceAllStringFunc(line, func(port string) string {
		if n.free[port] == "" {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			must(t, err)
			_, number, _ := net.SplitHostPort(l.Addr().String())
			must(t, l.Close())
			n.free[port] = ":" + number
		}
		return n.free[port]
	})
}
