package download

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Viewer opens files with the system's programs. It keeps the files in a private directory until it
// is closed. It is safe for concurrent use.
type Viewer struct {
	Command []string // the opener and its arguments; nil: the system's opener

	mu    sync.Mutex
	dir   string
	files int
}

// systemOpener returns the command that opens a file with the user's program for it.
func systemOpener() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}

// Open writes the content to a temporary file, named only after its content, and runs the opener
// until it exits or ctx ends. It refuses contents that [Sniff] does not allow.
func (v *Viewer) Open(ctx context.Context, data []byte) error {
	mediaType, extension, ok := Sniff(data)
	if !ok {
		return fmt.Errorf("not opened: the content is %s, neither an image, audio, PDF nor plain text", mediaType)
	}
	command := v.Command
	if command == nil {
		command = systemOpener()
	}
	opener, err := exec.LookPath(command[0])
	if err != nil {
		return fmt.Errorf("not opened: %s is not installed", command[0])
	}
	name, err := v.write(extension, data)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	var stderr strings.Builder // a program that the opener starts may hold it open: WaitDelay
	cmd := exec.CommandContext(ctx, opener, append(command[1:], name)...)
	cmd.Stderr, cmd.WaitDelay = &stderr, time.Second
	if err := cmd.Run(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return fmt.Errorf("%s failed: %w: %s", command[0], err, line)
	}
	return nil
}

// write writes a file into the private directory and returns its name.
func (v *Viewer) write(extension string, data []byte) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.dir == "" {
		dir, err := os.MkdirTemp("", "agentctl-*") // mode 0700
		if err != nil {
			return "", err
		}
		v.dir = dir
	}
	v.files++
	name := filepath.Join(v.dir, "file-"+strconv.Itoa(v.files)+extension)
	return name, os.WriteFile(name, data, 0o600)
}

// Close removes the files.
func (v *Viewer) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.dir == "" {
		return nil
	}
	err := os.RemoveAll(v.dir)
	v.dir = ""
	if err != nil {
		return errors.New("remove opened files: " + err.Error())
	}
	return nil
}
