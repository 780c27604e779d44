package ssh

import (
	"bufio"
	"errors"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"
)

// A conn is a connection through the standard input and output of an ssh process.
type conn struct {
	in     *os.File // of the process
	out    *os.File
	reader *bufio.Reader // of out
	target Target
	cmd    *exec.Cmd
	errors tail          // its standard error
	waited chan struct{} // closed when the process has ended
	exit   error         // set before waited is closed
	close  sync.Once
}

var _ net.Conn = (*conn)(nil)

func (c *conn) Read(b []byte) (int, error)  { return c.reader.Read(b) }
func (c *conn) Write(b []byte) (int, error) { return c.in.Write(b) }

// Close stops the process and waits for its exit.
func (c *conn) Close() error {
	var err error
	c.close.Do(func() {
		err = c.in.Close()
		c.kill()
		<-c.waited
		err = errors.Join(err, c.out.Close())
	})
	return err
}

// kill kills the process. A shared connection is another process, and stays.
func (c *conn) kill() { _ = c.cmd.Process.Kill() }

func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.in.SetDeadline(t), c.out.SetDeadline(t))
}
func (c *conn) SetReadDeadline(t time.Time) error  { return c.out.SetReadDeadline(t) }
func (c *conn) SetWriteDeadline(t time.Time) error { return c.in.SetWriteDeadline(t) }

func (c *conn) LocalAddr() net.Addr  { return addr("ssh") }
func (c *conn) RemoteAddr() net.Addr { return addr(c.target.String()) }

// An addr is a name used as a network address.
type addr string

func (a addr) Network() string { return "ssh" }
func (a addr) String() string  { return string(a) }

// A tail keeps the newest bytes written to it.
type tail struct {
	mu   sync.Mutex // guards kept
	kept []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if excess := len(t.kept) - maxErrorOutput; excess > 0 {
		t.kept = append(t.kept[:0], t.kept[excess:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
