//go:build browser

package browser

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// foreignHost is a name of this machine in the browser, as a page that attacks by DNS rebinding
// has one.
const foreignHost = "rebound.example"

// An outcome is what a page got from an attempt.
type outcome struct {
	Connected bool   `json:"connected"`
	Text      string `json:"text"`
}

// A site serves pages and receives their reports.
type site struct {
	addr    string
	reports chan []byte
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{reports: make(chan []byte, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /page", servePage)
	mux.HandleFunc("GET /sandbox", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, "testdata/sandbox.html")
	})
	mux.HandleFunc("POST /report", func(_ http.ResponseWriter, r *http.Request) {
		if b, err := io.ReadAll(r.Body); err == nil {
			s.reports <- b
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.addr = server.Listener.Addr().String()
	return s
}

func servePage(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/page.html") }

// url returns the URL of a page with another name of this machine.
func (s *site) url(host, path string) string { return "http://" + withHost(s.addr, host) + path }

// withHost returns an address with another host and the same port.
func withHost(addr, host string) string {
	_, port, _ := net.SplitHostPort(addr) // of a listener
	return net.JoinHostPort(host, port)
}

// show shows a page that makes attempts, until it has reported their outcomes.
func (s *site) show(t *testing.T, page string, attempts []attempt) []outcome {
	t.Helper()
	plan, err := json.Marshal(struct {
		Report   string    `json:"report"`
		Attempts []attempt `json:"attempts"`
	}{s.url("127.0.0.1", "/report"), attempts})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), testTimeout)
	defer stop()
	out := new(strings.Builder)
	cmd := exec.CommandContext(ctx, chromium(t),
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
		"--disable-background-networking", "--disable-component-update",
		// The browser's own protection of this machine is off, so that the server's is tested.
		"--disable-features=LocalNetworkAccessChecks", "--user-data-dir="+t.TempDir(),
		"--host-resolver-rules=MAP "+foreignHost+" 127.0.0.1",
		page+"#"+url.PathEscape(string(plan)))
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second // then it is killed
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() {
		stop()
		<-ended // with all its processes, which have its output
	}()
	var outcomes []outcome
	select {
	case report := <-s.reports:
		if err := json.Unmarshal(report, &outcomes); err != nil || len(outcomes) != len(attempts) {
			t.Fatalf("%d outcomes of %d attempts: %v", len(outcomes), len(attempts), err)
		}
	case err := <-ended:
		ended <- err
		t.Fatalf("the browser ended without a report of %s: %v\n%s", page, err, out)
	}
	return outcomes
}

// chromium returns the path of the browser.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no chromium: apt-get install chromium")
	return ""
}
