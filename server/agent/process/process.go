package process

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Limits of output after the exit of the program, in case a process outside the group holds the
// pipe.
const (
	outputGrace = 500 * time.Millisecond // to wait, all reads together
	outputRest  = 1 << 20                // bytes to read; a pipe holds no more
)

const (
	setupTimeout = 30 * time.Second // for a supervisor before it runs the program
	maxPasses    = 10               // of EndAll over all processes
)

// ErrSetup is wrapped by the error of Start if the supervisor ended before it ran the program.
var ErrSetup = errors.New("the supervisor has ended")

// Command is a program to run.
type Command struct {
	Args []string // the program and its arguments
	Dir  string
	Env  []string // K=V; nil: the environment of the server

	// Session is the session of the agent, or empty. The program finds it in SessionVariable.
	Session string

	// Supervisor is a program and its arguments, to which the program and its own are added. It runs
	// them in their own namespace of processes, and passes no signals on: TERM goes to the processes
	// below it, and none is left when they have ended. Start returns when it has set up everything, or
	// ErrSetup. nil: none.
	Supervisor []string

	// Launch calls start on the thread that shall start the program. nil: start is called.
	Launch func(start func() error) error

	// Record stores the group of the program durably. The program runs only after Record returns
	// nil, so no program runs unrecorded. It never runs when Record fails or the server dies in it.
	// nil: do not record.
	Record func(Group) error
}

// Group identifies a process group. The start time distinguishes it from a later group with the
// same number.
type Group struct {
	PID   int    // of the leader; also the number of the group
	Start string // start time of the leader, platform-specific; "" where unknown
}

// Process is a running program. Its methods are safe for concurrent use. Stdin and Stdout have one
// user each.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.Reader

	// Static after Start.
	group      Group
	supervised bool
	mark       string // variable that the program and its descendants have
	stdout     *outputReader
	stderr     *tail
	stderrDone chan struct{} // closed at the end of standard error
	done       chan struct{} // closed after the leader has exited and its group was killed
	exitErr    error         // exit error of the leader; read after done

	endMu sync.Mutex // held by End
}

// Start runs cmd. It keeps a bounded tail of standard error.
func Start(cmd Command) (*Process, error) {
	if len(cmd.Args) == 0 || cmd.Args[0] == "" {
		return nil, errors.New("start program: no command given")
	}
	c := exec.Command(cmd.Args[0], cmd.Args[1:]...) //nolint:noctx // End ends the program
	mark := markVariable + "=" + rand.Text()
	c.Dir, c.Env = cmd.Dir, cmd.environment(mark)
	c.SysProcAttr = ownGroup()
	var b *startBarrier
	if cmd.Record != nil || cmd.Supervisor != nil {
		var err error
		if b, err = newStartBarrier(c, cmd.Supervisor); err != nil {
			return nil, fmt.Errorf("start %s: %w", cmd.Args[0], err)
		}
		defer b.close()
	}

	parent, child, err := pipes()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Args[0], err)
	}
	// Pass files to the program: with an io.Writer, Wait would block until every holder of the pipe
	// has closed it.
	c.Stdin, c.Stdout, c.Stderr = child[0], child[1], child[2]
	if cmd.Launch == nil {
		cmd.Launch = func(start func() error) error { return start() }
	}
	err = cmd.Launch(c.Start)
	closeAll(child)
	if err != nil {
		closeAll(parent)
		return nil, fmt.Errorf("start %s: %w", cmd.Args[0], err)
	}

	p := &Process{
		Stdin:      parent[0],
		group:      Group{PID: c.Process.Pid, Start: startTime(c.Process.Pid)},
		supervised: cmd.Supervisor != nil, mark: mark,
		stderr:     &tail{},
		stderrDone: make(chan struct{}),
		done:       make(chan struct{}),
	}
	p.stdout = &outputReader{file: parent[1], done: p.done, wait: outputGrace, rest: outputRest}
	p.Stdout = p.stdout
	go p.readStderr(parent[2])
	go p.wait(c, parent[2])
	if b == nil {
		return p, nil
	}
	err = b.wait()
	if err == nil && cmd.Record != nil {
		err = cmd.Record(p.group)
	}
	if err == nil {
		err = b.release()
	}
	if err == nil {
		return p, nil
	}
	b.close()
	p.End(0)
	p.Release()
	if errors.Is(err, ErrSetup) {
		err = fmt.Errorf("%w: %s", err, p.StderrTail())
	}
	return nil, fmt.Errorf("start %s: %w", cmd.Args[0], err)
}

// pipes returns the server's and the program's ends of pipes for standard input, output and error.
func pipes() (parent, child [3]*os.File, err error) {
	for i := range parent {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(parent)
			closeAll(child)
			return parent, child, err
		}
		if parent[i], child[i] = r, w; i == 0 {
			parent[i], child[i] = w, r
		}
	}
	return parent, child, nil
}

func closeAll(files [3]*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// wait kills the rest of the group after the exit of the leader, and reaps the leader. Where it
// can, it kills first: until the leader is reaped no other group gets its number.
func (p *Process) wait(c *exec.Cmd, log *os.File) {
	unreaped := waitExited(p.group.PID)
	if unreaped {
		_ = killGroup(p.group.PID)
	}
	p.exitErr = c.Wait()
	if !unreaped {
		_ = killGroup(p.group.PID)
	}
	_ = p.stdout.file.SetReadDeadline(time.Now().Add(outputGrace))
	_ = log.SetReadDeadline(time.Now().Add(outputGrace))
	close(p.done)
}

func (p *Process) readStderr(log *os.File) {
	defer close(p.stderrDone)
	defer log.Close()
	_, _ = io.Copy(p.stderr, log)
}

// Group returns the process group, for EndGroup in a later server.
func (p *Process) Group() Group { return p.group }

// Done returns a channel that is closed when the program has exited and the rest of its group was
// killed.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns the exit error of the program, nil for status 0. It is valid after Done is closed.
func (p *Process) Err() error { return p.exitErr }

// StderrTail returns the last bytes of standard error, at most 8 KiB of valid UTF-8.
func (p *Process) StderrTail() string { return p.stderr.String() }

// End stops the program and waits for its exit. It closes standard input, after grace sends TERM to
// the group, and after another grace kills the group. With grace 0 it kills immediately. After the
// exit it kills descendants in other groups. Output of the program can still be read.
func (p *Process) End(grace time.Duration) {
	p.endMu.Lock()
	defer p.endMu.Unlock()
	left := descendants(p.group.PID)
	_ = p.Stdin.Close()
	if !p.waitExit(grace) {
		left = append(left, descendants(p.group.PID)...)
		if p.supervised { // it passes no signals on
			signalAll(left, syscall.SIGTERM)
		} else {
			_ = terminateGroup(p.group.PID)
		}
		if !p.waitExit(grace) {
			left = append(left, descendants(p.group.PID)...)
			_ = killGroup(p.group.PID)
		}
	}
	<-p.done
	signalAll(left, syscall.SIGKILL)
	if p.supervised {
		awaitExits(left)
	}
	<-p.stderrDone
}

// EndAll is End, and kills descendants wherever they are, also those that left the group and lost their
// parents, unless one has replaced its environment.
func (p *Process) EndAll(grace time.Duration) {
	p.End(grace)
	for range maxPasses { // a process may have started another since
		left := marked(p.mark)
		if left == nil {
			return
		}
		signalAll(left, syscall.SIGKILL)
	}
}

// Release closes the output pipe. No read may follow. If the output was read until another process
// alone held the pipe, Release kills the descendants, as EndAll does.
func (p *Process) Release() {
	_ = p.stdout.file.Close()
	if p.stdout.held.Load() {
		p.EndAll(0)
	}
}

func (p *Process) waitExit(within time.Duration) bool {
	if within <= 0 {
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	}
	select {
	case <-p.done:
		return true
	case <-time.After(within):
		return false
	}
}

// subtree lists the descendants of pid. It removes visited processes from children: a cycle ends.
func subtree(pid int, children map[int][]Group) []Group {
	list := children[pid]
	delete(children, pid)
	for _, c := range list {
		list = append(list, subtree(c.PID, children)...)
	}
	return list
}

// outputReader reads the output of the program. After the exit of the program the reader may be
// slow, but its reads return io.EOF when they have waited for outputGrace or read outputRest, all
// together: a process outside the group cannot keep the reader by writing.
type outputReader struct {
	file *os.File
	done <-chan struct{}
	held atomic.Bool // a limit ended the output, not the end of the pipe

	// Owned by the reader.

	wait time.Duration // left after done
	rest int           // bytes left after done
}

func (o *outputReader) Read(b []byte) (n int, err error) {
	select {
	case <-o.done:
		n, err = o.readRest(b)
	default:
		n, err = o.file.Read(b)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		o.held.Store(true)
		err = io.EOF
	}
	return n, err
}

// readRest reads after the exit of the program.
func (o *outputReader) readRest(b []byte) (int, error) {
	if o.wait <= 0 || o.rest <= 0 {
		return 0, os.ErrDeadlineExceeded
	}
	began := time.Now()
	_ = o.file.SetReadDeadline(began.Add(o.wait))
	n, err := o.file.Read(b[:min(len(b), o.rest)])
	o.wait -= time.Since(began)
	o.rest -= n
	return n, err
}

// tailSize is the number of bytes of standard error to keep.
const tailSize = 8 << 10

// tail keeps the last bytes written to it. Safe for concurrent use.
type tail struct {
	mu  sync.Mutex
	buf []byte
	cut bool // earlier bytes were dropped
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b[max(0, len(b)-2*tailSize):]...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
		t.cut = true
	}
	return len(b), nil
}

// String returns the tail from the first complete line, as valid UTF-8.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := string(t.buf)
	if i := strings.IndexByte(s, '\n'); t.cut && i >= 0 {
		s = s[i+1:]
	}
	return strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
}

// tokenVariable holds a client's credential. With it an agent could decide its own requests.
const tokenVariable = "AGENTCTL_TOKEN"

// markVariable has the mark of a program. A server that starts in the background drops it.
const markVariable = "AGENTCTL_COMMAND"

// environment returns the variables of the program, with its mark.
func (c *Command) environment(mark string) []string {
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == tokenVariable || name == SessionVariable || name == markVariable
	})
	env = append(env, mark)
	if c.Session != "" {
		env = append(env, SessionVariable+"="+c.Session)
	}
	return env
}
