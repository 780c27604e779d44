//go:build linux

package crash

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"agentctl/internal/fakeacp"
	"agentctl/internal/testbinary"
)

// program is the path of the built binary.
var program string

func TestMain(m *testing.M) {
	if fakeacp.Enabled() {
		os.Exit(fakeacp.Main())
	}
	dir, err := os.MkdirTemp("", "agentctl-crash")
	if err != nil {
		panic(err)
	}
	if program, err = testbinary.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// markVariable is the environment variable that identifies the processes of one test: the server,
// and by inheritance its agents.
const markVariable = "AGENTCTL_CRASH_MARK"

// A server is a data directory and the process that serves it. There is at most one at a time.
type server struct {
	t   *testing.T
	dir string
	url string
	cmd *exec.Cmd
}

// start starts a process and returns when it is ready.
func (s *server) start() {
	s.t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	s.cmd = exec.Command(
		program, "serve", "--data", filepath.Join(s.dir, "data"), "--config", filepath.Join(s.dir, "config"),
		"-o", "json",
	)
	s.cmd.Env = append(os.Environ(), markVariable+"="+s.dir, "XDG_RUNTIME_DIR="+s.dir)
	s.cmd.Stderr = log
	out, w, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd.Stdout = w
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	_ = w.Close()
	_ = out.SetReadDeadline(time.Now().Add(time.Minute))
	r := bufio.NewReader(out)
	line, err := r.ReadBytes('\n')
	var ready struct{ URL string }
	if err == nil {
		err = json.Unmarshal(line, &ready)
	}
	if err != nil {
		text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.t.Fatalf("start: %v\n%s", err, text)
	}
	s.url = ready.URL
	_ = out.Close()
}

// kill kills the process and returns the agent processes it leaves.
func (s *server) kill() []int {
	s.t.Helper()
	agents := s.agents()
	if err := s.cmd.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	_ = s.cmd.Wait()
	return agents
}

// stop shuts the process down and waits for its exit.
func (s *server) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	late := time.AfterFunc(30*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("stop: %v", err)
	}
}

// agents returns the processes with the test's mark, except the server.
func (s *server) agents() []int {
	s.t.Helper()
	names, err := os.ReadDir("/proc")
	if err != nil {
		s.t.Fatal(err)
	}
	var pids []int
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil || pid == s.cmd.Process.Pid {
			continue
		}
		environ, _ := os.ReadFile("/proc/" + name.Name() + "/environ") // fails for a dead process
		if strings.Contains(string(environ), markVariable+"="+s.dir+"\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killAll kills the processes a failed test left.
func (s *server) killAll() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	for _, pid := range s.agents() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func alive(pid int, dir string) bool {
	environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return strings.Contains(string(environ), markVariable+"="+dir+"\x00")
}
