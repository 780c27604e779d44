//go:build linux

package testbinary

import (
	"bufio"
	"cmp"
	"context"
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
)

// markVariable is the environment variable that identifies the processes of one Server: agentctl,
// and by inheritance its agents.
const markVariable = "AGENTCTL_TEST_MARK"

// A Server is a data directory and the process that serves it. There is at most one at a time. Its
// files are in Dir: "data", "config" and "log", the standard error of all processes.
type Server struct {
	T       testing.TB
	Program string   // path of the binary; empty: Program, which Run built
	Dir     string   // with the file config
	Args    []string // further arguments of serve
	Env     []string // further variables
	URL     string   // of the running process
	cmd     *exec.Cmd
}

// Start starts a process and returns when it is ready.
func (s *Server) Start() {
	s.T.Helper()
	log, err := os.OpenFile(s.LogFile(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		s.T.Fatal(err)
	}
	defer log.Close()
	s.cmd = exec.CommandContext(context.Background(), cmp.Or(s.Program, Program), append([]string{
		"serve", "--data", filepath.Join(s.Dir, "data"), "--config", filepath.Join(s.Dir, "config"), "-o", "json",
	}, s.Args...)...)
	s.cmd.Env = append(append(os.Environ(), markVariable+"="+s.Dir, "XDG_RUNTIME_DIR="+s.Dir), s.Env...)
	s.cmd.Stderr = log
	out, w, err := os.Pipe()
	if err != nil {
		s.T.Fatal(err)
	}
	s.cmd.Stdout = w
	if err := s.cmd.Start(); err != nil {
		s.T.Fatal(err)
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
		text, _ := os.ReadFile(s.LogFile())
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.T.Fatalf("start: %v\n%s", err, text)
	}
	s.URL = ready.URL
	_ = out.Close()
}

// LogFile returns the path of the log.
func (s *Server) LogFile() string { return filepath.Join(s.Dir, "log") }

// PID returns the id of the process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Kill kills the process with SIGKILL and returns the agent processes it leaves.
func (s *Server) Kill() []int { return s.End(syscall.SIGKILL) }

// End ends the process with a signal that it does not handle and returns the agent processes it
// leaves.
func (s *Server) End(signal syscall.Signal) []int {
	s.T.Helper()
	agents := s.Agents()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.T.Fatal(err)
	}
	_ = s.cmd.Wait()
	return agents
}

// Stop shuts the process down and waits for its exit.
func (s *Server) Stop() {
	s.T.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.T.Fatal(err)
	}
	late := time.AfterFunc(30*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	if err := s.cmd.Wait(); err != nil {
		s.T.Errorf("stop: %v", err)
	}
}

// Agents returns the processes of the server's agents, including agents of earlier processes.
func (s *Server) Agents() []int {
	s.T.Helper()
	names, err := os.ReadDir("/proc")
	if err != nil {
		s.T.Fatal(err)
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name.Name()); err == nil && pid != s.PID() && s.Owns(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Owns reports whether a process runs that is the server or one of its agents.
func (s *Server) Owns(pid int) bool {
	environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // fails for a dead process
	return strings.Contains(string(environ), markVariable+"="+s.Dir+"\x00")
}

// CheckGone checks that no agent of a killed server runs. A shell at the start barrier has not become an
// agent: it exits when it reads the end of its pipe, and is waited for.
func (s *Server) CheckGone(agents []int) {
	s.T.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for _, pid := range agents {
		for limit := time.Now().Add(time.Minute); s.Owns(pid) && atStartBarrier(pid) && time.Now().Before(limit); {
			<-tick.C
		}
		if s.Owns(pid) {
			s.T.Errorf("process %d, an agent of the killed server, still runs", pid)
		}
	}
}

// atStartBarrier reports whether a process is a shell that waits until it may execute an agent.
func atStartBarrier(pid int) bool {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // fails for a dead process
	return strings.Contains(string(line), "read -r go <&3")
}

// KillAll kills the processes that a failed test left.
func (s *Server) KillAll() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	for _, pid := range s.Agents() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
