//go:build policyfuzz && linux

package policyfuzz

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	lines = flag.Uint64("lines", 1500, "number of lines that are run")
	seed  = flag.Uint64("seed", 1, "of the lines")
)

// nobody owns what the lines run.
const nobody = 65534

// tools are the real programs in the root: shells, wrappers, and others that run programs.
var tools = []string{
	"bash", "dash", "sh", "env", "nice", "nohup", "setsid", "stdbuf", "timeout", "ls", "cat", "echo", "true", "printf",
	"grep", "find", "xargs", "sed", "mawk", "awk", "tar", "sort", "split", "flock", "taskset", "ionice", "chrt",
	"prlimit", "setpriv", "script", "setarch", "linux64", "unshare", "choom", "ln", "chmod", "tee", "git", "kill",
	"mkdir", "strace", "sqlite3", "ed", "perl", "zip",
}

// stub is the denied program. It reports its start, however it was started.
const stub = `package main

import "net"

func main() {
	c, err := net.Dial("unixgram", "/log")
	if err != nil {
		panic(err)
	}
	_, _ = c.Write([]byte("rm"))
}
`

// A root is a directory with tools, in which lines run.
type root struct {
	dir string
	log *net.UnixConn
}

func newRoot(t *testing.T) *root {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("the test needs root: it runs lines as nobody in another root")
	}
	r := &root{dir: t.TempDir()}
	for dir := r.dir; dir != "/tmp" && dir != "/"; dir = filepath.Dir(dir) {
		r.check(t, os.Chmod(dir, 0o755))
	}
	for _, dir := range []string{"bin", "opt", "dev", "tmp", "w", "lib", "lib64", "usr"} {
		r.check(t, os.Mkdir(filepath.Join(r.dir, dir), 0o755))
	}
	r.check(t, os.Symlink("../bin", filepath.Join(r.dir, "usr/bin")))
	r.check(t, os.WriteFile(filepath.Join(r.dir, "dev/null"), nil, 0o666))
	r.check(t, os.Chmod(filepath.Join(r.dir, "dev/null"), 0o666))
	for _, name := range tools {
		r.install(t, name)
	}
	source := filepath.Join(t.TempDir(), "main.go")
	r.check(t, os.WriteFile(source, []byte(stub), 0o600))
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(r.dir, "bin/rm"), source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the stub: %v: %s", err, out)
	}
	r.check(t, os.Symlink("/bin/rm", filepath.Join(r.dir, "opt/link")))
	r.check(t, os.Link(filepath.Join(r.dir, "bin/rm"), filepath.Join(r.dir, "opt/ls")))
	log, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(r.dir, "log"), Net: "unixgram"})
	r.check(t, err)
	r.check(t, os.Chmod(filepath.Join(r.dir, "log"), 0o777))
	t.Cleanup(func() { _ = log.Close() })
	r.log = log
	return r
}

func (r *root) check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// library matches the files that a program of this system loads.
var library = regexp.MustCompile(`(/\S+) \(0x`)

// install copies a program of this system, with its libraries. A missing one is left out.
func (r *root) install(t *testing.T, name string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Logf("%s is missing", name)
		return
	}
	r.copy(t, path, "/bin/"+name)
	out, _ := exec.CommandContext(t.Context(), "ldd", path).Output() // fails for a static program
	for _, m := range library.FindAllSubmatch(out, -1) {
		r.copy(t, string(m[1]), string(m[1]))
	}
}

func (r *root) copy(t *testing.T, from, to string) {
	t.Helper()
	to = filepath.Join(r.dir, to)
	if _, err := os.Stat(to); err == nil {
		return
	}
	b, err := os.ReadFile(from)
	r.check(t, err)
	r.check(t, os.MkdirAll(filepath.Dir(to), 0o755))
	r.check(t, os.WriteFile(to, b, 0o755))
}

// starts reports whether a shell starts the stub for a line, in a new working directory.
func (r *root) starts(t *testing.T, shell, line string) bool {
	t.Helper()
	work := filepath.Join(r.dir, "w")
	r.check(t, os.RemoveAll(work))
	r.check(t, os.Mkdir(work, 0o755))
	for name, text := range map[string]string{
		"f": "x\n", "x": "", "rm.sh": "rm x\n", "v.sh": "X=rm\n",
		"s.sh": "true\n",
	} {
		r.check(t, os.WriteFile(filepath.Join(work, name), []byte(text), 0o644))
		r.check(t, os.Chown(filepath.Join(work, name), nobody, nobody))
	}
	r.check(t, os.Symlink("/bin/rm", filepath.Join(work, "link")))
	r.check(t, os.Chown(work, nobody, nobody))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, "/bin/"+shell, "-c", line)
	c.Dir, c.Env = "/w", []string{"PATH=/bin", "HOME=/w"}
	c.SysProcAttr = &syscall.SysProcAttr{
		Chroot: r.dir, Credential: &syscall.Credential{Uid: nobody, Gid: nobody},
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC, Pdeathsig: syscall.SIGKILL,
	}
	var exit *exec.ExitError
	if out, err := c.CombinedOutput(); err != nil && !errors.As(err, &exit) && ctx.Err() == nil {
		t.Fatalf("%q: %v: %s", line, err, out)
	}
	started := false
	for b := make([]byte, 16); ; started = true {
		n, err := syscallRead(r.log, b)
		if err != nil || !bytes.Equal(b[:n], []byte("rm")) {
			return started
		}
	}
}

// syscallRead reads what a socket has, without waiting.
func syscallRead(c *net.UnixConn, b []byte) (n int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	if failed := raw.Control(func(fd uintptr) {
		n, _, err = syscall.Recvfrom(int(fd), b, syscall.MSG_DONTWAIT)
	}); failed != nil {
		return 0, failed
	}
	return n, err
}

// No line is allowed with which a shell starts the denied program, by whatever name.
func TestNoAllowedLineRunsADeniedProgram(t *testing.T) {
	r := newRoot(t)
	forms, err := os.ReadFile("../../../server/policy/testdata/forms.txt")
	r.check(t, err)
	for _, shell := range []string{"bash", "dash"} {
		if !r.starts(t, shell, "./link") || r.starts(t, shell, "ls") {
			t.Fatalf("%s: the root does not work", shell)
		}
	}
	ran := 0
	try := func(name, line string) {
		if strings.ContainsRune(line, 0) {
			return
		}
		for _, shell := range []string{"bash", "dash"} {
			if !r.starts(t, shell, line) {
				continue
			}
			if ran++; allowed(line, filepath.Join(r.dir, "w")) {
				t.Errorf("%s: %s runs rm for %q, which is allowed", name, shell, line)
			}
		}
	}
	for form := range strings.SplitSeq(string(forms), "\n") {
		if _, line, ok := strings.Cut(form, "\t"); ok {
			try("forms.txt", strings.ReplaceAll(line, "⏎", "\n"))
		}
	}
	t.Logf("the forms run rm %d times", ran)
	for n := range *lines {
		try(fmt.Sprintf("-seed %d -lines 1", *seed+n), Line(rand.New(rand.NewPCG(*seed+n, 0))))
	}
	t.Logf("%d lines: rm ran %d times", *lines, ran)
}
