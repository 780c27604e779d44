//go:build interop

package interop

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"agentctl/internal/dev/interop/interoptest"
	"agentctl/internal/dev/testbinary"
)

// An acpx is a client that others wrote, with an earlier SDK of version 1. The frames of each run are
// judged.
type acpx struct {
	t    *testing.T
	dir  string // of the session
	home string
	args string // of agentctl acp

	agent string // command of the first run: acpx knows sessions by it
}

func (x *acpx) command(args ...string) *exec.Cmd {
	x.t.Helper()
	program, err := filepath.Abs("node_modules/.bin/acpx")
	interoptest.Must(x.t, err)
	tap, file := tapped(x.t, testbinary.Program, strings.Fields("acp "+x.args), map[string]string{})
	if x.agent == "" {
		x.agent = strings.Join(append([]string{tap["command"].(string)}, tap["args"].([]string)...), " ")
	}
	x.t.Cleanup(func() {
		if frames := readFrames(x.t, file); len(frames) > 0 { // cancel asks the process that runs
			judgeFrames(x.t, frames, 1, toClient)
		}
	})
	cmd := exec.CommandContext(x.t.Context(), program, append([]string{"--agent", x.agent, "--ttl", "1"}, args...)...)
	cmd.Dir, cmd.Env = x.dir, append(os.Environ(), "HOME="+x.home, tapVariable+"="+file)
	return cmd
}

// run returns the output of acpx. A denial is an error, too.
func (x *acpx) run(args ...string) string {
	x.t.Helper()
	out, _ := x.command(args...).CombinedOutput()
	return string(out)
}

// An acpxRun is acpx with a prompt.
type acpxRun struct {
	t    *testing.T
	out  *os.File
	seen bytes.Buffer
}

// start starts acpx. Its output ends when it ends.
func (x *acpx) start(args ...string) *acpxRun {
	x.t.Helper()
	cmd := x.command(args...)
	r, w, err := os.Pipe()
	interoptest.Must(x.t, err)
	cmd.Stdout, cmd.Stderr = w, w
	interoptest.Must(x.t, cmd.Start())
	_ = w.Close()
	x.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = r.Close()
	})
	return &acpxRun{t: x.t, out: r}
}

// wait reads the output until it contains a word.
func (r *acpxRun) wait(word string) {
	r.t.Helper()
	for b := make([]byte, 4096); !strings.Contains(r.seen.String(), word); {
		n, err := r.out.Read(b)
		if r.seen.Write(b[:n]); err != nil {
			r.t.Fatalf("no %q before the end: %s", word, r.seen.String())
		}
	}
}

func TestAcpxRunsSessions(t *testing.T) {
	s := serveEditors(t)
	x := &acpx{t: t, dir: s.dir, home: shortDir(t), args: "--data " + s.data}
	interoptest.Contains(t, x.run("exec", "work"), "all done", "end_turn")
	interoptest.Contains(t, x.run("--approve-all", "exec", "ask"), "Run `git status`", "allowed by", "it ran", "end_turn")
	interoptest.Contains(t, x.run("--deny-all", "exec", "ask"), "denied by", "it did not run", "end_turn")
	// acpx has no forms: a question is rejected even with --approve-all.
	interoptest.Contains(t, x.run("--approve-all", "exec", "question"), "denied by", "no answer", "end_turn")
	x.run("sessions", "new")
	interoptest.Contains(t, x.run("prompt", "hi"), "hello back", "end_turn")
}

// Two clients on one session, the second from the middle of a turn that the first cancels.
func TestAcpxSharesSessions(t *testing.T) {
	s := serveEditors(t)
	ann := &acpx{t: t, dir: s.dir, home: shortDir(t), args: "--data " + s.data}
	bob := &acpx{t: t, dir: shortDir(t), home: ann.home, args: ann.args}
	ann.run("sessions", "new")
	slow := ann.start("prompt", "slow")
	slow.wait("begun")
	list, err := exec.Command(testbinary.Program, "ls", "--data", s.data).Output()
	interoptest.Must(t, err)
	running := regexp.MustCompile(`(?m)^(s_\w+) .*running`).FindSubmatch(list)
	if running == nil {
		t.Fatalf("no session runs: %s", list)
	}
	bob.run("sessions", "new", "--resume-session", string(running[1]))
	hi := bob.start("prompt", "hi")
	hi.wait("session/")
	ann.run("cancel")
	slow.wait("cancelled")
	hi.wait("end_turn")
	interoptest.Contains(t, hi.seen.String(), "hello back")
}

func TestAKilledServerIsAPauseForAcpx(t *testing.T) {
	dir := shortDir(t) // processes may still end
	t.Setenv("XDG_RUNTIME_DIR", dir)
	file, signal, data := filepath.Join(dir, "slow.script"), filepath.Join(dir, "signal"), filepath.Join(dir, "data")
	script := `{"resumes":true}` + "\n" + `{"on":"*"}` + "\n" + `{"say":"begun"}` + "\n" + `{"wait":"file:` + signal + `"}` + "\n" +
		`{"say":"finished"}`
	interoptest.Must(t, os.WriteFile(file, []byte(script), 0o600))
	t.Cleanup(func() { _ = exec.Command(testbinary.Program, "stop", "--data", data).Run() })
	x := &acpx{t: t, dir: dir, home: dir, args: "--data " + data + " --agent script:" + file}
	run := x.start("exec", "go")
	run.wait("begun")
	killServer(t, data)
	interoptest.Must(t, os.WriteFile(signal, nil, 0o600))
	run.wait("end_turn")
	interoptest.Contains(t, run.seen.String(), "finished")
}

func TestARevokedCredentialEndsAcpx(t *testing.T) {
	s := serveEditors(t)
	id, token := s.newToken(t)
	x := &acpx{t: t, dir: s.dir, home: shortDir(t), args: "--server " + s.URL + " --data " + t.TempDir() + " --token " + token}
	run := x.start("exec", "slow")
	run.wait("begun")
	s.revoke(t, id)
	run.wait("[error]")
}
