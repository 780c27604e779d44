//go:build interop

package sandcastle

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/internal/dev/interop/interoptest"
	"agentctl/internal/dev/testbinary"
)

// A cli runs agentctl over the dialect.
type cli struct {
	t      *testing.T
	server *testServer
}

// run runs a verb and returns its exit code, stdout, error code and error message.
func (s cli) run(words ...string) (exit int, out, code, message string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), interoptest.Timeout)
	defer cancel()
	cmd := exec.CommandContext(
		ctx,
		testbinary.Program,
		append([]string{"--server", "ws://" + s.server.addr, "--dialect", "sandcastle", "-o", "json"}, words...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	var e struct {
		Error struct{ Code, Message string }
	}
	_ = json.Unmarshal(stderr.Bytes(), &e)
	return cmd.ProcessState.ExitCode(), stdout.String(), e.Error.Code, e.Error.Message
}

// Every verb that the dialect does not support fails with the code unsupported and has no effect.
func TestVerbsOutsideTheDialectAreUnsupported(t *testing.T) {
	server := newTestServer(t)
	s := cli{t, server}
	state := filepath.Join(server.dir, "state.json")
	out, err := exec.CommandContext(t.Context(), testbinary.Program, "--server",
		"unix://"+filepath.Join(server.dir, "data", "agentctl.sock"), "-o", "json", "state", "export", "abc").
		Output()
	interoptest.Must(t, err)
	interoptest.Must(t, os.WriteFile(state, out, 0o600))
	s.run("send", "abc", "ask")
	s.run("wait", "abc", "--for", "approval")
	s.run("send", "abc", "hello")
	for _, line := range []string{
		"ls", "new --name two", "queue edit abc m text", "queue mv abc m 0", "queue hold abc", "queue release abc",
		"task cancel abc a",
		"task restart abc a", "state export abc", "state restore " +
			state, "context abc", "compact abc", "rename abc other", "rm abc", "rules abc",
		"rules revoke abc r", "approvals", "attach --plain", "interrupt abc --queue hold", "approve abc --always",
		"deny abc --stop", "explain abc",
	} {
		exit, out, code, message := s.run(strings.Fields(line)...)
		why := strings.Contains(message, "the dialect sandcastle") ||
			strings.Contains(message, "it takes: allow once, deny")
		if exit != 10 || out != "" || code != "unsupported" || !why {
			t.Errorf("%s: exit %d, %q, %s: %s", line, exit, out, code, message)
		}
	}
	_, out2, _, _ := s.run("status", "abc")
	var now struct {
		Status    string
		Queue     []message
		Approvals []struct{ Request string }
	}
	interoptest.Must(t, json.Unmarshal([]byte(out2), &now))
	if now.Status != "waiting" || len(now.Queue) != 1 || len(now.Approvals) != 1 {
		t.Errorf("the session is %+v", now)
	}
}

// Supported verbs work as with the native protocol, exit codes included.
func TestVerbsOverTheDialect(t *testing.T) {
	server := newTestServer(t)
	s := cli{t, server}
	for _, c := range []struct {
		line string
		exit int
		want string // in stdout or the error code
	}{
		{"send abc hello --wait", 0, `"status":"started"`},
		{"send abc hello --follow", 0, `"type":"turn.ended"`},
		{"send abc fail --wait", 7, ""},
		{"history abc", 0, `"text":"so far"`},
		{"events abc", 0, `"type":"turn.ended"`},
		{"export abc --format md", 0, "Hello yourself."},
		{"send abc ask --wait", 6, ""},
		{"approvals abc", 0, `"command":"rm -rf build"`},
		{"status abc", 0, `"status":"waiting"`},
		{"send abc hello", 0, `"status":"queued"`},
		{"queue abc", 0, `"text":"hello"`},
		{"deny abc --reason later", 0, `"decision":"deny"`},
		{"wait abc --for idle", 0, ""},
		{"deny abc r4", 1, "not_found"},
		{"send abc hang", 0, `"status":"started"`},
		{"send abc more", 0, `"status":"queued"`},
		{"interrupt abc --queue clear", 0, `"interrupted":true`},
		{"wait abc --for idle", 130, "interrupted"},
		{"interrupt abc", 0, `"interrupted":false`},
		{"queue rm abc nope", 1, "not_found"},
		{"send nope hello", 4, "no_session"},
		{"status nope", 4, "no_session"},
		{"attach nope --plain", 4, "no_session"},
	} {
		exit, out, code, message := s.run(strings.Fields(c.line)...)
		if exit != c.exit || !strings.Contains(out+code, c.want) {
			t.Errorf("%s: exit %d, want %d, and %s in\n%s%s: %s", c.line, exit, c.exit, c.want, out, code, message)
		}
	}
	native := follow(t, server.nativeClient(), server.session)
	native.WaitFor("caught up", native.ended("hang"))
	if native.turn("more") != nil || native.agentText("ask") != "May I?Kept it." {
		t.Errorf("%q, %v", native.agentText("ask"), native.turn("more"))
	}
}
