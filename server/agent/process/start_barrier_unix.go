//go:build unix

package process

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// A startBarrier holds a started program. A shell with the process id of the program, or below its
// supervisor, waits for release and then executes the program. When the barrier is closed first, or the
// server dies, the shell exits.
type startBarrier struct {
	r, w  *os.File    // the shell reads
	ready [2]*os.File // the shell below a supervisor writes; nil: no supervisor
}

// Scripts of the shell. Their arguments are the program and the arguments of the program.
const (
	barrierScript = `read -r go <&3 && exec 3<&- && exec "$@"`
	readyScript   = `echo >&4 && exec 4>&- && `
)

// newStartBarrier changes c to start behind a barrier, below a supervisor if there is one. It checks
// that the program is executable, since the shell could not report that.
func newStartBarrier(c *exec.Cmd, supervisor []string) (*startBarrier, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	path := c.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return nil, &fs.PathError{Op: "exec", Path: path, Err: fs.ErrPermission}
	}
	b := &startBarrier{}
	script := barrierScript
	if b.r, b.w, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("start barrier: %w", err)
	}
	c.ExtraFiles = []*os.File{b.r}
	if supervisor != nil {
		if b.ready[0], b.ready[1], err = os.Pipe(); err != nil {
			b.close()
			return nil, fmt.Errorf("start barrier: %w", err)
		}
		script = readyScript + script
		c.ExtraFiles = append(c.ExtraFiles, b.ready[1])
	}
	c.Args = slices.Concat(supervisor, []string{"/bin/sh", "-c", script, "sh", c.Path}, c.Args[1:])
	c.Path = c.Args[0]
	return b, nil
}

// wait returns when the shell runs, or ErrSetup. The barrier was started.
func (b *startBarrier) wait() error {
	if b.ready[0] == nil {
		return nil
	}
	_ = b.ready[1].Close()
	_ = b.ready[0].SetReadDeadline(time.Now().Add(setupTimeout))
	if _, err := b.ready[0].Read(make([]byte, 1)); err != nil { // all writers are closed
		return ErrSetup
	}
	return nil
}

// release runs the program.
func (b *startBarrier) release() error {
	_, err := b.w.Write([]byte("go\n"))
	return err
}

// close closes the pipes. Before release it stops the shell.
func (b *startBarrier) close() {
	for _, f := range []*os.File{b.r, b.w, b.ready[0], b.ready[1]} {
		_ = f.Close() // of nil it is an error
	}
}
