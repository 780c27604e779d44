//go:build interop

package interop

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A tap stands between the server and an agent: this test program under the name of the agent,
// which the server runs in its place. It copies both directions and appends each line to a file.

// tapVariable holds the path of the file in the environment of a tap.
const tapVariable = "AGENTCTL_INTEROP_TAP"

// Directions of a tapped line, as in the recordings.
const (
	toAgent  = "c2a"
	toClient = "a2c"
)

// A frame is a line between the server and an agent.
type frame struct {
	Dir  string `json:"dir"`
	Line string `json:"line"`
}

// tapped returns the command of a tap that runs program, and the file of its frames. The link is
// named like the program, by which the server knows a preset.
func tapped(t *testing.T, program string, args []string, env map[string]string) (obj, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	link, file := filepath.Join(dir, filepath.Base(program)), filepath.Join(dir, "frames")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	env[tapVariable] = file
	return obj{"command": link, "args": append([]string{program}, args...), "env": env}, file
}

// tap runs the program of the arguments and returns its exit code.
func tap(file string) int {
	log, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = log.Close() }()
	program := exec.Command(os.Args[1], os.Args[2:]...)
	program.Stderr = os.Stderr
	in, err := program.StdinPipe()
	if err == nil {
		var out io.Reader
		if out, err = program.StdoutPipe(); err == nil {
			if err = program.Start(); err == nil {
				var mu sync.Mutex
				go func() {
					defer func() { _ = in.Close() }()
					copyLines(os.Stdin, in, log, &mu, toAgent)
				}()
				copyLines(out, os.Stdout, log, &mu, toClient)
				err = program.Wait()
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func copyLines(from io.Reader, to, log io.Writer, mu *sync.Mutex, dir string) {
	for r := bufio.NewReader(from); ; {
		line, err := r.ReadString('\n')
		if line != "" {
			b, _ := json.Marshal(frame{dir, strings.TrimSuffix(line, "\n")})
			mu.Lock()
			_, _ = log.Write(append(b, '\n'))
			mu.Unlock()
			if _, err := io.WriteString(to, line); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// readFrames returns the frames of a tap so far.
func readFrames(t *testing.T, file string) (frames []frame) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var f frame
		if json.Unmarshal([]byte(line), &f) == nil { // a killed tap may leave a half line
			frames = append(frames, f)
		}
	}
	return frames
}
