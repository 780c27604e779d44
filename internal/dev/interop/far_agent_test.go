//go:build interop

package interop

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
)

// farFeatures are the features of an agent on another machine. Its processes are not this server's.
var farFeatures = []string{
	"prompt", "token counts", "allowed command", "output of a command", "diff in the request", "deny with reason",
	"interrupt", "model failure", "server killed in mid-turn",
}

// TestAgentsElsewhere runs features with an agent behind the server of the reference SDK, over both
// transports.
func TestAgentsElsewhere(t *testing.T) {
	for _, scheme := range []string{"http", "ws"} {
		t.Run(scheme, func(t *testing.T) {
			a := claudeAgent
			a.serve = func(t *testing.T, _ string, entry obj) obj {
				port := serveFar(t, entry, "node", "far_agent.mjs", "s3cret", entry["command"].(string))
				return obj{
					"url": scheme + "://127.0.0.1:" + port + "/acp", "env": obj{"FAR_KEY": "s3cret"},
					"headers": obj{"Authorization": "Bearer ${FAR_KEY}"},
				}
			}
			runFar(t, &a)
		})
	}
}

// TestQwenServe runs features with Qwen Code's own server, over both transports.
func TestQwenServe(t *testing.T) {
	for _, scheme := range []string{"http", "ws"} {
		t.Run(scheme, func(t *testing.T) {
			a := qwenAgent
			a.vague = true
			a.serve = func(t *testing.T, cwd string, entry obj) obj {
				entry["env"].(map[string]string)["QWEN_SERVER_TOKEN"] = "s3cret"
				listening := serveFar(
					t, entry, entry["command"].(string), "serve", "--port", "0", "--no-web", "--workspace", cwd,
				)
				_, port, ok := strings.Cut(listening, "http://127.0.0.1:")
				if port, _, _ = strings.Cut(port, " "); !ok {
					t.Fatalf("it printed %q", listening)
				}
				return obj{
					"url": scheme + "://127.0.0.1:" + port + "/acp", "headers": obj{"Authorization": "Bearer s3cret"},
				}
			}
			runFar(t, &a)
		})
	}
}

// runFar runs the features of an agent elsewhere.
func runFar(t *testing.T, a *realAgent) {
	t.Helper()
	r := newTestSession(t, a, modelScript(a))
	var snap protocol.SnapshotResult
	r.do(protocol.DoSnapshot, protocol.Empty{}, &snap)
	if s := snap.Snapshot.State.Sandbox; s.Mode != protocol.SandboxRemote {
		t.Errorf("the sandbox is %s", s)
	}
	for _, f := range features {
		if slices.Contains(farFeatures, f.name) {
			t.Run(f.name, func(t *testing.T) { f.run(t, r.withT(t)) })
		}
	}
}

// serveFar starts a server of an agent in the agent's environment and returns the first line that it
// prints.
func serveFar(t *testing.T, entry obj, name string, args ...string) string {
	t.Helper()
	server := exec.Command(name, args...)
	server.Dir, server.Env, server.Stderr = mustAbs(t, "."), os.Environ(), os.Stderr
	for name, value := range entry["env"].(map[string]string) {
		server.Env = append(server.Env, name+"="+value)
	}
	in, err := server.StdinPipe()
	var out io.Reader
	if err == nil {
		out, err = server.StdoutPipe()
	}
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = server.Process.Kill()
		_ = server.Wait() // killed
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return strings.TrimSpace(line)
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
