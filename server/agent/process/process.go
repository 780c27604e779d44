package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// outputGrace is how long output is awaited after the program has exited, in case something that left the group still holds
// the pipe.
const outputGrace = 500 * time.Millisecond

// Command says what to run.
type Command struct {
	Args []string // the program and its arguments
	Dir  string
	Env  []string // K=V; as os/exec: nil means the server's own

	// Record records the program's group. The program does not run before it has returned, and not at all when it fails or
	// this server dies in it, so that no program runs unrecorded. nil: nobody needs to know.
	Record func(Group) error
}

// Group names a process group so that a later server can end it without hitting a stranger that got its number.
type Group struct {
	PID   int    // of the leader, which is the group's number
	Start string // of the leader, as the platform tells it; "" where it cannot
}

// Process is a running program. Its methods may be called from any goroutine; Stdin and Stdout each have one user.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.Reader

	// Static after Start.
	group      Group
	stdout     *os.File
	stderr     *tail
	stderrDone chan struct{} // closed when standard error has been read to its end
	done       chan struct{} // closed when the leader has exited and its group has been ended
	exitErr    error         // how the leader exited; read after done

	endMu sync.Mutex // held by End
}

// Start runs cmd. The program's standard error is kept as a bounded tail.
func Start(cmd Command) (*Process, error) {
	if len(cmd.Args) == 0 || cmd.Args[0] == "" {
		return nil, errors.New("start program: no command given")
	}
	c := exec.Command(cmd.Args[0], cmd.Args[1:]...) //nolint:noctx // End owns the program's end
	c.Dir, c.Env = cmd.Dir, cmd.Env
	c.SysProcAttr = ownGroup()
	var b *startBarrier
	if cmd.Record != nil {
		var err error
		if b, err = newStartBarrier(c); err != nil {
			return nil, fmt.Errorf("start %s: %w", cmd.Args[0], err)
		}
		defer b.close()
	}

	ours, theirs, err := pipes()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Args[0], err)
	}
	// The program gets the files themselves: with writers of ours, Wait would wait for whoever holds its output.
	c.Stdin, c.Stdout, c.Stderr = theirs[0], theirs[1], theirs[2]
	err = c.Start()
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
		return nil, fmt.Errorf("start %s: %w", cmd.Args[0], err)
	}

	p := &Process{
		Stdin:      ours[0],
		stdout:     ours[1],
		group:      Group{PID: c.Process.Pid, Start: startTime(c.Process.Pid)},
		stderr:     &tail{},
		stderrDone: make(chan struct{}),
		done:       make(chan struct{}),
	}
	p.Stdout = &outputReader{file: p.stdout, done: p.done}
	go p.readStderr(ours[2])
	go p.wait(c, ours[2])
	if b == nil {
		return p, nil
	}
	if err = cmd.Record(p.group); err == nil {
		err = b.release()
	}
	if err != nil {
		b.close()
		p.End(0)
		p.Release()
		return nil, fmt.Errorf("start %s: %w", cmd.Args[0], err)
	}
	return p, nil
}

// pipes are for a program's standard input, output and error: our ends and its own.
func pipes() (ours, theirs [3]*os.File, err error) {
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ours)
			closeAll(theirs)
			return ours, theirs, err
		}
		if ours[i], theirs[i] = r, w; i == 0 {
			ours[i], theirs[i] = w, r
		}
	}
	return ours, theirs, nil
}

func closeAll(files [3]*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// wait reaps the leader and ends what it left behind.
func (p *Process) wait(c *exec.Cmd, log *os.File) {
	p.exitErr = c.Wait()
	_ = killGroup(p.group.PID)
	_ = p.stdout.SetReadDeadline(time.Now().Add(outputGrace))
	_ = log.SetReadDeadline(time.Now().Add(outputGrace))
	close(p.done)
}

func (p *Process) readStderr(log *os.File) {
	defer close(p.stderrDone)
	defer log.Close()
	_, _ = io.Copy(p.stderr, log)
}

// Group returns what a later server needs to end the group.
func (p *Process) Group() Group { return p.group }

// Done is closed when the program has exited and the rest of its group has been told to.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the program exited: nil for status 0. It is valid once Done is closed.
func (p *Process) Err() error { return p.exitErr }

// StderrTail returns the end of the program's standard error, valid UTF-8 of at most a few kilobytes.
func (p *Process) StderrTail() string { return p.stderr.String() }

// End makes the program exit, waits until it has, and releases what it read from and logged to: standard input is closed,
// after grace the group is asked to terminate, after a further grace it is killed. Both waits are skipped with grace 0.
// Descendants that made groups of their own are killed once the program is gone. What the program printed can still be
// read.
func (p *Process) End(grace time.Duration) {
	p.endMu.Lock()
	defer p.endMu.Unlock()
	kin := descendants(p.group.PID)
	_ = p.Stdin.Close()
	if !p.waitExit(grace) {
		kin = append(kin, descendants(p.group.PID)...)
		_ = terminateGroup(p.group.PID)
		if !p.waitExit(grace) {
			kin = append(kin, descendants(p.group.PID)...)
			_ = killGroup(p.group.PID)
		}
	}
	<-p.done
	killAll(kin)
	<-p.stderrDone
}

// Release frees the output pipe, read to its end or not. Nothing may read it any more.
func (p *Process) Release() { _ = p.stdout.Close() }

func (p *Process) waitExit(within time.Duration) bool {
	if within <= 0 {
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	}
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-p.done:
		return true
	case <-t.C:
		return false
	}
}

// subtree lists a family tree without its root. A process that is its own ancestor ends the walk.
func subtree(pid int, children map[int][]Group) []Group {
	list := children[pid]
	delete(children, pid)
	for _, c := range list {
		list = append(list, subtree(c.PID, children)...)
	}
	return list
}

// outputReader reads what the program prints. Once the program has exited, what is still in the pipe is read as slowly as its
// reader likes, but a read that finds nothing more for a while is the end.
type outputReader struct {
	file *os.File
	done <-chan struct{}
}

func (o *outputReader) Read(b []byte) (int, error) {
	select {
	case <-o.done:
		_ = o.file.SetReadDeadline(time.Now().Add(outputGrace))
	default:
	}
	n, err := o.file.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = io.EOF
	}
	return n, err
}
