//go:build unix

package process

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"agentctl/internal/dev/thorough"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(connectVariable); path != "" {
		connect(path)
		return
	}
	thorough.Parallel(8) // tests wait for processes
	goleak.VerifyTestMain(m)
}

// connectVariable makes this test program a client that connects to the socket in its value.
const connectVariable = "AGENTCTL_TEST_CONNECT"

// connect connects to a socket and waits until the server closes it. With the argument "leave" the
// connection is left to another process.
func connect(path string) {
	conn, err := net.Dial("unix", path)
	if err != nil {
		panic(err)
	}
	if slices.Contains(os.Args, "leave") {
		f, err := conn.(*net.UnixConn).File()
		if err != nil {
			panic(err)
		}
		heir := exec.Command("cat")
		heir.Stdin = f
		if err := heir.Start(); err != nil {
			panic(err)
		}
		return
	}
	_, _ = io.Copy(io.Discard, conn)
}

func start(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Start(Command{Args: []string{"/bin/sh", "-c", script}, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.End(0)
		p.Release()
	})
	return p
}

// readLine reads one line of output.
func readLine(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	s, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(s)
}

// waitGone waits until no live process has the pid. Zombies do not count.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for alive(pid) {
		select {
		case <-ctx.Done():
			t.Fatalf("process %d still runs", pid)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

func TestAProgramThatEndsWithItsInputEndsGracefully(t *testing.T) {
	p := start(t, `cat; echo bye`)
	if _, err := io.WriteString(p.Stdin, "hello\n"); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		b, _ := io.ReadAll(p.Stdout)
		read <- string(b)
	}()
	p.End(10 * time.Second)
	if got := <-read; got != "hello\nbye\n" || p.Err() != nil {
		t.Errorf("printed %q and exited with %v", got, p.Err())
	}
}

func TestEndIsSureWhateverTheProgramIgnores(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"its input":               `echo ready; exec sleep 100`,
		"its input and TERM":      `trap '' TERM; echo ready; while :; do sleep 100; done`,
		"a child that holds on":   `trap '' TERM; sleep 100 & echo ready; wait`,
		"everything but the pipe": `trap '' TERM HUP INT; echo ready; while :; do sleep 100; done`,
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, script)
			readLine(t, bufio.NewReader(p.Stdout))
			p.End(20 * time.Millisecond)
			if p.Err() == nil {
				t.Error("exited with status 0")
			}
			waitGone(t, p.Group().PID)
		})
	}
}

func TestNothingOfTheGroupOutlivesTheLeader(t *testing.T) {
	t.Parallel()
	p := start(t, `trap '' TERM; (trap '' TERM; while :; do sleep 100; done) & echo $!`)
	out := bufio.NewReader(p.Stdout)
	child, err := strconv.Atoi(readLine(t, out))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	waitGone(t, child)
	if _, err := out.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("read after exit: %v, want EOF", err)
	}
}

func TestOutputIsReadWholeAfterTheExit(t *testing.T) {
	p := start(t, `i=0; while [ $i -lt 1000 ]; do echo line $i; i=$((i+1)); done`)
	<-p.Done()
	b, err := io.ReadAll(p.Stdout)
	if err != nil || strings.Count(string(b), "\n") != 1000 {
		t.Errorf("read %d lines, %v", strings.Count(string(b), "\n"), err)
	}
}

func TestOutputWaitsForASlowReader(t *testing.T) {
	t.Parallel()
	p := start(t, `echo kept`)
	<-p.Done()
	<-time.After(outputGrace + 200*time.Millisecond) // longer than outputGrace
	if b, err := io.ReadAll(p.Stdout); err != nil || string(b) != "kept\n" {
		t.Errorf("read %q, %v", b, err)
	}
}

func TestStderrIsABoundedTail(t *testing.T) {
	p := start(t, `i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done; printf 'bad \377 byte' >&2`)
	p.End(10 * time.Second)
	log := p.StderrTail()
	if len(log) > tailSize+2 || !strings.HasSuffix(log, "line 2999\nbad \uFFFD byte") ||
		!strings.HasPrefix(log, "line ") {
		t.Errorf("kept %d bytes, ending %q", len(log), log[max(0, len(log)-40):])
	}
}

func TestStartFailsForAProgramThatIsNotThere(t *testing.T) {
	if _, err := Start(Command{Args: []string{"no-such-agent"}}); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := Start(Command{}); err == nil {
		t.Error("started an empty command")
	}
}

func TestALaterServerEndsTheGroup(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"with its leader":   `trap '' TERM; echo $$; while :; do sleep 100; done`,
		"without its input": `echo $$; exec sleep 100`,
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, script)
			readLine(t, bufio.NewReader(p.Stdout))
			if err := EndGroup(t.Context(), p.Group(), 50*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			waitGone(t, p.Group().PID)
		})
	}
}

func TestALaterServerLeavesAStrangerAlone(t *testing.T) {
	p := start(t, `echo ready; exec sleep 100`)
	readLine(t, bufio.NewReader(p.Stdout))
	stranger := Group{PID: p.Group().PID, Start: p.Group().Start + "0"}
	if err := EndGroup(t.Context(), stranger, 0); err != nil {
		t.Fatal(err)
	}
	if !alive(p.Group().PID) {
		t.Error("ended a process with another start time")
	}
	if err := EndGroup(t.Context(), Group{}, 0); err != nil {
		t.Error(err)
	}
}
