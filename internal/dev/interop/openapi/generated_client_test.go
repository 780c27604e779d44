//go:build interop

package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/interop/interoptest"
	"agentctl/internal/dev/testbinary"
	"agentctl/protocol"
	"agentctl/server/web"
)

func TestMain(m *testing.M) { os.Exit(testbinary.Run(m)) }

// agentScript is the script of the server's agent.
const agentScript = `
{"on":"*"}
{"ask":"command","command":"make test","title":"Test","then":[{"say":"All tests pass."}],"else":[{"say":"Not run."}]}
`

// A generated client creates a session, sends, follows the events, decides, and reads the result.
func TestAGeneratedClientUsesASession(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "agent.script")
	interoptest.Must(t, os.WriteFile(script, []byte(agentScript), 0o600))
	server := interoptest.Serve(t, filepath.Join(dir, "data"), script, "--listen", "127.0.0.1:0")
	t.Cleanup(server.Stop)
	url := "http://" + strings.TrimPrefix(server.URL, "ws://")
	token, err := os.ReadFile(server.TokenFile)
	interoptest.Must(t, err)

	download(t, url+"/openapi.json", filepath.Join(dir, "openapi.json"))
	for _, name := range []string{"client.ts", "tsconfig.json"} {
		b, err := os.ReadFile(name)
		interoptest.Must(t, err)
		interoptest.Must(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	packages, err := filepath.Abs("node_modules")
	interoptest.Must(t, err)
	interoptest.Must(t, os.Symlink(packages, filepath.Join(dir, "node_modules")))
	run(t, dir, nil, "node", "node_modules/@hey-api/openapi-ts/bin/run.js", "-i", "openapi.json", "-o", "client",
		"--no-log-file")
	run(t, dir, nil, "node", "node_modules/typescript/bin/tsc", "-p", ".")
	out := run(t, dir, []string{"URL=" + url, "TOKEN=" + strings.TrimSpace(string(token))}, "node", "out/client.js")

	var got struct {
		Created, Again           protocol.CreateResult
		Needs, Command, Conflict string
		Outcome                  protocol.Outcome
		Result                   web.MessageResult
		Types                    []protocol.Type
		Listed                   []string
		Sessions, Status         int
	}
	interoptest.Must(t, json.Unmarshal(out, &got))
	if got.Created.Session == "" || got.Again.Session != got.Created.Session || got.Sessions != 1 {
		t.Errorf("created %+v, again %+v, %d sessions", got.Created, got.Again, got.Sessions)
	}
	if got.Needs != web.NeedsApproval || got.Command != "make test" || got.Outcome != protocol.Allowed {
		t.Errorf("needs %q of %q, decided %q", got.Needs, got.Command, got.Outcome)
	}
	if o := got.Result.Outcome; o == nil || o.Reason != protocol.ReasonCompleted || o.Text != "All tests pass." {
		t.Errorf("the result is %+v", got.Result)
	}
	if got.Conflict != string(protocol.CodeConflict) || got.Status != http.StatusConflict {
		t.Errorf("a second decision: %d %q", got.Status, got.Conflict)
	}
	for _, typ := range []protocol.Type{protocol.SessionCreated, protocol.ApprovalRequested, protocol.TurnEnded} {
		if !slices.Contains(got.Types, typ) {
			t.Errorf("no event %s in %v", typ, got.Types)
		}
	}
	if !slices.Equal(got.Listed, []string{got.Created.Session}) {
		t.Errorf("the list begins with %v", got.Listed)
	}
}

func download(t *testing.T, url, path string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	interoptest.Must(t, err)
	resp, err := http.DefaultClient.Do(r)
	interoptest.Must(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	interoptest.Must(t, err)
	interoptest.Must(t, os.WriteFile(path, b, 0o600))
}

// run runs a program in a directory and returns its stdout.
func run(t *testing.T, dir string, env []string, program string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*interoptest.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %v: %v\n%s%s", program, args, err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.Bytes()
}
