//go:build sandbox

package sandboxtest

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent/process"
	"agentctl/server/sandbox"
)

// A home is a user with secrets, sockets, a repository, and a server on a directory.
type home struct {
	t    testing.TB
	dir  string
	cwd  string
	env  []string
	host *sandbox.Host
}

// newHome makes a home directory. Its secrets have the word CANARY.
func newHome(t testing.TB) *home {
	t.Helper()
	dir, err := os.MkdirTemp(os.Getenv(baseVariable), "h")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	h := &home{t: t, dir: dir, cwd: filepath.Join(dir, "work", "repository")}
	data := filepath.Join(dir, ".local/share/agentctl")
	inner := filepath.Join(h.cwd, "inner", "data")
	for name, content := range map[string]string{
		".local/share/agentctl/token":              "CANARY",
		".local/share/agentctl/key":                "CANARY",
		".local/share/agentctl/server.log":         "CANARY",
		".local/share/agentctl/sandbox/other/file": "",
		".local/state/agentctl/servers.json":       "CANARY",
		".config/agentctl/server.json":             "{}",
		".config/systemd/user/file":                "",
		".config/autostart/file":                   "",
		".config/gh/hosts.yml":                     "CANARY",
		".ssh/id_test":                             "CANARY",
		".ssh/config":                              "",
		".aws/credentials":                         "CANARY",
		".netrc":                                   "CANARY",
		".gnupg/file":                              "",
		".docker/run/file":                         "",
		".screen/file":                             "",
		".bashrc":                                  "",
		".cache/go-build/file":                     "",
		".local/bin/tool":                          "",
		"bin/tool":                                 "",
		"app/file":                                 "",
		".agent/settings.json":                     "{}",
		"work/repository/file":                     "content\n",
		"work/repository/inner/data/token":         "CANARY",
		"work/repository/inner/path/file":          "",
		".local/share/agentctl/sandbox/own/file":   "",
	} {
		h.write(name, content)
	}
	h.login()
	run, err := os.MkdirTemp("", "agentctl-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	for _, path := range []string{
		filepath.Join(data, "agentctl.sock"), filepath.Join(data, "sandbox/other/socket"),
		filepath.Join(data, "sandbox/own", sandbox.SocketName), filepath.Join(run, "bus"),
		filepath.Join(run, "default"), filepath.Join(run, "docker.sock"), filepath.Join(run, "ssh-agent"),
		filepath.Join(dir, ".screen/1.pts"), filepath.Join(dir, ".docker/run/docker.sock"),
		filepath.Join(dir, ".gnupg/S.gpg-agent"), filepath.Join(dir, "app/control.sock"), "@" + filepath.Base(dir),
	} {
		h.listen(path)
	}
	h.env = append(os.Environ(), "HOME="+dir, "DATA="+data, "LISTEN="+run, "ABSTRACT="+filepath.Base(dir),
		"TOKEN_PORT="+h.serveToken(), "VICTIM="+h.victim(filepath.Join(data, "token")),
		"BIN="+filepath.Join(dir, "bin/tool"), "SSH_AUTH_SOCK="+filepath.Join(run, "ssh-agent"))
	t.Setenv("PATH", os.Getenv("PATH")+":"+filepath.Join(h.cwd, "inner/path"))
	h.host = sandbox.New(sandbox.Options{
		Home: dir, Own: []string{data, inner}, Dir: filepath.Join(data, "sandbox"),
	})
	t.Cleanup(h.host.Close)
	return h
}

func (h *home) write(name, content string) {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
		h.t.Fatal(err)
	}
}

// login lets ssh in with a key of the user, and with those that the home directory lets in.
func (h *home) login() {
	base := os.Getenv(baseVariable)
	key, err := os.ReadFile(filepath.Join(base, "key"))
	if err != nil {
		return // no sshd runs
	}
	h.write(".ssh/id_login", string(key))
	link := filepath.Join(base, "login")
	_ = os.Remove(link)
	if err := os.Symlink(h.dir, link); err != nil {
		h.t.Fatal(err)
	}
}

// git makes a repository with a submodule and a worktree.
func (h *home) git() {
	h.t.Helper()
	script := `set -e
		export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
		git init -q ../part && git -C ../part commit -q --allow-empty -m part
		git init -q . && git add file && git commit -q -m first
		git -c protocol.file.allow=always submodule --quiet add ../part module && git commit -q -m module
		git worktree add -q ../tree`
	cmd := exec.CommandContext(h.t.Context(), "bash", "-c", script)
	cmd.Dir = h.cwd
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("git: %v\n%s", err, out)
	}
}

// listen accepts connections on a socket until the end of the test.
func (h *home) listen(path string) {
	h.t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
}

// serveToken serves on TCP who knows the token, and returns the port.
func (h *home) serveToken() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "CANARY" {
			_, _ = io.WriteString(w, "WON")
		}
	}), ReadHeaderTimeout: time.Minute}
	h.t.Cleanup(func() { _ = s.Close() })
	go func() { _ = s.Serve(l) }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// victim starts a process of the user with secrets, and returns its number.
func (h *home) victim(token string) string {
	f, err := os.Open(token)
	if err != nil {
		h.t.Fatal(err)
	}
	defer f.Close()
	cmd := exec.Command("sleep", "1000")
	cmd.Env, cmd.ExtraFiles = []string{"SECRET=CANARY"}, []*os.File{f}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return strconv.Itoa(cmd.Process.Pid)
}

// box returns a sandbox of a session.
func (h *home) box(s protocol.Sandbox) *sandbox.Box {
	h.t.Helper()
	box, err := h.host.Box(s, sandbox.BoxOptions{
		Dir: filepath.Join(h.dir, ".local/share/agentctl/sandbox/own"), CWD: h.cwd, State: []sandbox.State{{Dir: ".agent", Kept: []string{"sessions/"}, Read: []string{"settings.json"}}},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return box
}

// run runs a script in a sandbox and returns its output.
func (h *home) run(s protocol.Sandbox, script string) string {
	h.t.Helper()
	p, err := h.box(s).Start(process.Command{
		Args: []string{"bash", "-c", "exec 2>&1; echo STARTED\n" + script}, Dir: h.cwd, Env: h.env,
	})
	if err != nil {
		return err.Error()
	}
	_ = p.Stdin.Close()
	ctx, cancel := context.WithTimeout(h.t.Context(), 2*time.Minute)
	defer cancel()
	context.AfterFunc(ctx, func() { p.End(0) })
	out, _ := io.ReadAll(p.Stdout)
	p.End(30 * time.Second)
	p.Release()
	return strings.TrimSpace(string(out) + "\n" + p.StderrTail())
}
