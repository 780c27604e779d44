//go:build sandbox

package sandboxtest

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent/process"
	"agentctl/server/sandbox"
)

// markVariable is in the environment of every process of a test.
const markVariable = "AGENTCTL_TEST_MARK"

// hostSandbox is a server that starts a program with children in a sandbox, and waits.
func hostSandbox(home string) {
	h := sandbox.New(sandbox.Options{Home: home, Dir: filepath.Join(home, "s")})
	box, err := h.Box(protocol.Sandbox{Mode: protocol.SandboxWorkspace}, sandbox.BoxOptions{CWD: filepath.Join(home, "work")})
	if err == nil {
		var p *process.Process
		p, err = box.Start(process.Command{
			Args:   []string{"bash", "-c", "(setsid sleep 1000 &); setsid -f sleep 1000; echo $$; sleep 1000"},
			Dir:    filepath.Join(home, "work"),
			Record: func(process.Group) error { return nil },
		})
		if err == nil {
			line, _ := bufio.NewReader(p.Stdout).ReadString('\n')
			fmt.Println("ready", p.Group().PID, line)
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	select {}
}

// TestNoProcessOutlivesItsServer kills each of the processes that keep a sandbox alive.
func TestNoProcessOutlivesItsServer(t *testing.T) {
	for _, who := range []string{"server", "supervisor", "first process", "program"} {
		t.Run(who, func(t *testing.T) {
			h := newHome(t)
			mark := filepath.Base(h.dir)
			cmd := exec.Command("host", h.dir)
			cmd.Stderr = os.Stderr
			cmd.Env = append(os.Environ(), markVariable+"="+mark)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			})
			line, _ := bufio.NewReader(out).ReadString('\n')
			words := strings.Fields(line)
			if len(words) < 2 || words[0] != "ready" {
				t.Fatal(line)
			}
			supervisor, _ := strconv.Atoi(words[1])
			first := children(supervisor)[0]
			victim := map[string]int{
				"server": cmd.Process.Pid, "supervisor": supervisor, "first process": first, "program": children(first)[0],
			}[who]
			waitFor(t, "the program and its children", func() bool { return len(marked(mark, cmd.Process.Pid)) >= 5 })
			if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			waitFor(t, "the end of all processes", func() bool { return len(marked(mark, cmd.Process.Pid)) == 0 })
		})
	}
	if b, err := os.ReadFile("/proc/self/mountinfo"); err != nil || bytes.Contains(b, []byte("agentctl-sandbox-")) {
		t.Errorf("a mount is left, or %v", err)
	}
}

// waitFor waits until something has happened.
func waitFor(t *testing.T, what string, happened func() bool) {
	t.Helper()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for deadline := time.Now().Add(time.Minute); !happened(); <-poll.C {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
	}
}

// children returns the children of a process.
func children(pid int) (list []int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range threads {
		b, _ := os.ReadFile(file)
		for _, word := range strings.Fields(string(b)) {
			child, _ := strconv.Atoi(word)
			list = append(list, child)
		}
	}
	if list == nil {
		return []int{0}
	}
	return list
}

// marked returns the running processes with a mark, but for one.
func marked(mark string, but int) (list []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		b, _ := os.ReadFile(file)
		if pid := filepath.Base(filepath.Dir(file)); bytes.Contains(b, []byte(markVariable+"="+mark)) && pid != strconv.Itoa(but) {
			list = append(list, pid)
		}
	}
	return list
}
