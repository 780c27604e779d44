package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// A process is a server in a process of its own. It serves until its standard input ends.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	address string // host and port
	pid     int    // of the server
}

// An order is a line on the standard input of a server. It answers each with a line.
type order struct {
	Collect  bool     `json:"collect,omitempty"` // garbage, and return memory to the system
	Sessions []string `json:"sessions,omitempty"`
	Job      *job     `json:"job,omitempty"` // publish in the sessions; of references only
}

// token is required by the agentctl server.
const token = "benchmark"

// startProcess starts a server.
func startProcess(ctx context.Context, o *serveOptions) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(ctx, program, o.args()...)}
	p.cmd.Stderr = os.Stderr
	p.cmd.Env = append(os.Environ(), serveVariable+"=1")
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start server %s: %w", o.Kind, err), p.stop())
	}
	p.pid = p.cmd.Process.Pid
	if _, err := fmt.Sscan(line, &p.address, &p.pid); p.address == "" {
		return nil, errors.Join(fmt.Errorf("start server %s: %w", o.Kind, err), p.stop())
	}
	return p, nil
}

// stop ends the server and waits for it.
func (p *process) stop() error {
	_ = p.in.Close()
	kill := time.AfterFunc(30*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	return p.cmd.Wait()
}

// send sends an order and waits for the answer.
func (p *process) send(o order) error {
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return err
	}
	_, err = p.out.ReadString('\n')
	return err
}

// cpu returns the processor time that the server has used, in seconds.
func (p *process) cpu() (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, errors.New("short /proc/PID/stat")
	}
	user, err1 := strconv.ParseFloat(fields[11], 64)
	system, err2 := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100, errors.Join(err1, err2)
}

// memory returns the resident memory of the server in bytes after a collection.
func (p *process) memory() (float64, error) {
	if err := p.send(order{Collect: true}); err != nil {
		return 0, err
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, errors.New("no VmRSS in /proc/PID/status")
	}
	kib, err := strconv.ParseFloat(fields[0], 64)
	return kib * 1024, err
}
