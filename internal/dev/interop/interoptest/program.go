//go:build interop

package interoptest

import (
	"bufio"
	"context"
	"encoding/json"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"agentctl/internal/dev/testbinary"
)

// Timeout bounds every wait for another program.
const Timeout = 60 * time.Second

// A Server is a process of agentctl serve.
type Server struct {
	t   *testing.T
	cmd *exec.Cmd

	URL       string `json:"url"`        // of the first TCP listener, or else of the Unix socket
	TokenFile string `json:"token_file"` // of the TCP listeners

	// Dialects holds the URLs of each dialect's listeners.
	Dialects map[string][]string
}

// Serve starts a server whose default agent runs a script, and returns when it is ready. args are
// further arguments of agentctl serve.
func Serve(t *testing.T, dataDir, script string, args ...string) *Server {
	t.Helper()
	args = append([]string{"serve", "--data", dataDir, "--default-agent", "script:" + script, "-o", "json"}, args...)
	s := &Server{t: t, cmd: exec.CommandContext(context.Background(), testbinary.Program, args...)}
	stdout, err := s.cmd.StdoutPipe()
	Must(t, err)
	Must(t, s.cmd.Start())
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	Must(t, err)
	Must(t, json.Unmarshal(line, s))
	return s
}

// Stop shuts the server down and fails the test if it exits with an error.
func (s *Server) Stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("server exit: %v", err)
	}
}

// Kill ends the server without a shutdown.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}
