//go:build unix

package process

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// A gate keeps a started program from running: a shell stands in its place, under the number it will have, and becomes the
// program when the gate opens. When the gate is closed instead, or this server dies, the shell ends.
type startBarrier struct{ r, w *os.File }

// barrierScript is what the shell does; the program and its arguments follow.
const barrierScript = `read -r go <&3 && exec 3<&- && exec "$@"`

// newStartBarrier puts a gate in front of c.
func newStartBarrier(c *exec.Cmd) (*startBarrier, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	path := c.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir, path)
	}
	info, err := os.Stat(path) // the shell would tell nobody
	if err != nil {
		return nil, err
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return nil, &fs.PathError{Op: "exec", Path: path, Err: fs.ErrPermission}
	}
	held, open, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	c.Args = append([]string{"sh", "-c", barrierScript, "sh", c.Path}, c.Args[1:]...)
	c.Path, c.ExtraFiles = "/bin/sh", []*os.File{held}
	return &startBarrier{held, open}, nil
}

// release lets the program run.
func (b *startBarrier) release() error {
	_, err := b.w.Write([]byte("go\n"))
	return err
}

// close ends the shell unless the gate was passed.
func (b *startBarrier) close() {
	_ = b.r.Close()
	_ = b.w.Close()
}
