//go:build browser

package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentctl/dialect"
	"agentctl/internal/dev/testbinary"
	"agentctl/protocol"
)

// testTimeout bounds each step of a test.
const testTimeout = 90 * time.Second

func TestMain(m *testing.M) { os.Exit(testbinary.Run(m)) }

// A testServer is agentctl with a TCP listener that requires a token, an open listener for each
// dialect, a user who can log in, and a session. Browsers reach each listener through a recorder.
type testServer struct {
	t   *testing.T
	dir string

	token, session string
	native         *recorder
	open           map[string]*recorder // by dialect
}

// newTestServer starts a server. Pages of an origin may connect.
func newTestServer(t *testing.T, origin string) *testServer {
	t.Helper()
	s := &testServer{t: t, dir: t.TempDir(), open: map[string]*recorder{}}
	s.write("agent.script", `{"on":"*"}`+"\n"+`{"say":"hello"}`)
	s.write("config.json", fmt.Sprintf(`{"agents":{"mine":{"script":"agent.script"}},"default_agent":"mine","origins":[%q]}`,
		origin))
	s.write("users.json", `{"ada":{"password":"`+passwordHash+`","role":"admin"}}`)
	args := []string{
		"serve", "--listen", "127.0.0.1:0", "--config", filepath.Join(s.dir, "config.json"),
		"--users", filepath.Join(s.dir, "users.json"), "-o", "json",
	}
	for _, name := range dialect.Names() {
		args = append(args, "--listen-dialect", name+"=127.0.0.1:0,open")
	}
	cmd := s.command(context.WithoutCancel(t.Context()), args...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := new(bytes.Buffer)
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("agentctl serve: %v\n%s", err, stderr)
		}
	})
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var address struct {
		URL       string
		TokenFile string `json:"token_file"`
		Dialects  map[string][]string
	}
	if err := json.Unmarshal(line, &address); err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(address.TokenFile)
	if err != nil {
		t.Fatal(err)
	}
	s.token = strings.TrimSpace(string(token))
	s.native = newRecorder(t, address.URL)
	for name, urls := range address.Dialects {
		s.open[name] = newRecorder(t, urls[0])
	}
	s.agentctl("new", "--name", sessionName)
	sessions := s.sessions()
	if len(sessions) != 1 || len(s.open) != len(dialect.Names()) {
		t.Fatalf("%d sessions, %d listeners", len(sessions), len(s.open))
	}
	s.session = sessions[0]
	return s
}

func (s *testServer) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *testServer) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, testbinary.Program, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "AGENTCTL_DATA=" + filepath.Join(s.dir, "data")}
	return cmd
}

// agentctl runs a verb and returns its output.
func (s *testServer) agentctl(args ...string) []byte {
	s.t.Helper()
	ctx, stop := context.WithTimeout(s.t.Context(), testTimeout)
	defer stop()
	out, err := s.command(ctx, args...).Output()
	if err != nil {
		s.t.Fatalf("agentctl %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// sessions returns the ids of all sessions.
func (s *testServer) sessions() (ids []string) {
	s.t.Helper()
	for line := range strings.Lines(string(s.agentctl("ls", "-o", "json"))) {
		var summary protocol.Summary
		if err := json.Unmarshal([]byte(line), &summary); err != nil {
			s.t.Fatal(err)
		}
		ids = append(ids, summary.Session)
	}
	return ids
}

// recorders returns all recorders, the native listener's first.
func (s *testServer) recorders() []*recorder {
	list := []*recorder{s.native}
	for _, name := range slices.Sorted(maps.Keys(s.open)) {
		list = append(list, s.open[name])
	}
	return list
}

// A recorder passes the requests of browsers on to a listener and records the statuses of the
// answers by the attempt in the URL. It serves the page of attempts itself, as a host of a rebound
// name did before it was rebound.
type recorder struct {
	addr string

	mu       sync.Mutex
	statuses map[string][]int // by attempt
}

// attemptParameter is the parameter of URLs that names the attempt.
const attemptParameter = "attempt"

func newRecorder(t *testing.T, listener string) *recorder {
	t.Helper()
	target, err := url.Parse(strings.Replace(listener, "ws:", "http:", 1))
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{statuses: map[string][]int{}}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			p.Out.Host = p.In.Host
		},
		ModifyResponse: func(resp *http.Response) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			name := resp.Request.URL.Query().Get(attemptParameter)
			r.statuses[name] = append(r.statuses[name], resp.StatusCode)
			return nil
		},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /page", servePage)
	mux.Handle("/", proxy)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	r.addr = server.Listener.Addr().String()
	return r
}

// take returns the statuses of the answers so far and forgets them.
func (r *recorder) take() map[string][]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	statuses := r.statuses
	r.statuses = map[string][]int{}
	return statuses
}
