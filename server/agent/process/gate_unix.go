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
type gate struct{ held, open *os.File }

// behind is what the shell does; the program and its arguments follow.
const behind = `read -r go <&3 && exec 3<&- && exec "$@"`

// newGate puts a gate in front of c.
func newGate(c *exec.Cmd) (*gate, error) {
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
	c.Args = append([]string{"sh", "-c", behind, "sh", c.Path}, c.Args[1:]...)
	c.Path, c.ExtraFiles = "/bin/sh", []*os.File{held}
	return &gate{held, open}, nil
}

// pass lets the program run.
func (g *gate) pass() error {
	_, err := g.open.Write([]byte("go\n"))
	return err
}

// close ends the shell unless the gate was passed.
func (g *gate) close() {
	_ = g.held.Close()
	_ = g.open.Close()
}
