//go:build unix

package process

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// A startBarrier holds a started program. A shell with the process id of the program waits for
// release and then executes the program. When the barrier is closed first, or the server dies, the
// shell exits.
type startBarrier struct{ r, w *os.File }

// barrierScript is the script of the shell. Its arguments are the program and the arguments of the
// program.
const barrierScript = `read -r go <&3 && exec 3<&- && exec "$@"`

// newStartBarrier changes c to start behind a barrier. It checks that the program is executable,
// since the shell could not report that.
func newStartBarrier(c *exec.Cmd) (*startBarrier, error) {
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
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start barrier: %w", err)
	}
	c.Args = append([]string{"sh", "-c", barrierScript, "sh", c.Path}, c.Args[1:]...)
	c.Path, c.ExtraFiles = "/bin/sh", []*os.File{r}
	return &startBarrier{r, w}, nil
}

// release runs the program.
func (b *startBarrier) release() error {
	_, err := b.w.Write([]byte("go\n"))
	return err
}

// close closes the pipe. Before release it stops the shell.
func (b *startBarrier) close() {
	_ = b.r.Close()
	_ = b.w.Close()
}
