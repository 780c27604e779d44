package server

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/protocol"
)

var (
	metricName = regexp.MustCompile(`^agentctl_[a-z_]+$`)
	sampleLine = regexp.MustCompile(
		`^([a-z_]+)(?:\{([a-z]+)="((?:[^"\\]|\\["\\n])*)"\})? (\+Inf|[-+.0-9e]+)$`)
)

// parseMetrics parses the text format. It fails on a line outside of it, a sample out of its family
// and a sample that is there twice.
func parseMetrics(t *testing.T, text string) map[string]float64 {
	t.Helper()
	samples, family, kind := map[string]float64{}, "", ""
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			family, _, _ = strings.Cut(rest, " ")
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "+family+" "); ok {
			kind = rest
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("not a sample: %q", line)
		}
		name := m[1]
		if kind == "histogram" {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				name = strings.TrimSuffix(name, suffix)
			}
		}
		value, err := strconv.ParseFloat(m[4], 64)
		if err != nil || name != family || (kind == "counter") != strings.HasSuffix(family, "_total") {
			t.Fatalf("%q in the %s %s: %v", line, kind, family, err)
		}
		key := strings.TrimSuffix(line, " "+m[4])
		if _, twice := samples[key]; twice {
			t.Errorf("%s is there twice", key)
		}
		samples[key] = value
	}
	return samples
}

func (w *testServer) scrape() (int, string) {
	w.t.Helper()
	resp, body := w.get(w.pipe, "/metrics")
	return resp.StatusCode, body
}

// get requests a path of a listener.
func (w *testServer) get(p *Pipe, path string) (*http.Response, string) {
	w.t.Helper()
	client := http.Client{Transport: &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return p.Dial(ctx) },
		DisableKeepAlives: true,
	}}
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://server"+path, http.NoBody)
	must(w.t, err)
	resp, err := client.Do(r)
	must(w.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(w.t, err)
	return resp, string(body)
}

func TestAScrapeCountsWhatHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t)
		id := w.runTurn("few")
		c := w.dial().collect()
		c.ask(protocol.DoSubscribe, id, nil)
		c.ask(protocol.DoSend, "none", protocol.SendData{Text: "x"})
		seen := len(c.all())
		synctest.Wait()
		status, body := w.scrape()
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		got := parseMetrics(t, body)
		for sample, want := range map[string]float64{
			`agentctl_build_info{version="agentctl test"}`:      1,
			`agentctl_sessions{status="idle"}`:                  1,
			`agentctl_sessions{status="running"}`:               0,
			`agentctl_turns_total{reason="completed"}`:          1,
			`agentctl_turn_errors_total{code="agent_failed"}`:   0,
			`agentctl_clients{protocol="native"}`:               1,
			`agentctl_subscriptions`:                            1,
			`agentctl_max_lag_events`:                           0,
			`agentctl_commit_failures_total`:                    0,
			`agentctl_errors_total{code="no_session"}`:          1,
			`agentctl_http_requests`:                            2,
			`agentctl_commit_seconds_count`:                     got[`agentctl_commits_total`],
			`agentctl_commit_seconds_bucket{le="+Inf"}`:         got[`agentctl_commits_total`],
			`agentctl_approval_age_seconds`:                     0,
			`agentctl_tokens_total{type="output"}`:              0,
			`agentctl_agent_start_failures_total{code="other"}`: 0,
		} {
			if value, ok := got[sample]; !ok || value != want {
				t.Errorf("%s %v (%t), want %v", sample, value, ok, want)
			}
		}
		for _, sample := range []string{
			"agentctl_committed_events_total", "agentctl_committed_bytes_total", "agentctl_delivered_events_total",
			"agentctl_delivered_bytes_total", "agentctl_store_bytes", "agentctl_goroutines", "agentctl_heap_bytes",
			"agentctl_commits_total", "agentctl_committed_batches_total",
		} {
			if got[sample] <= 0 {
				t.Errorf("%s %v, with %d events seen", sample, got[sample], seen)
			}
		}
	})
}

func TestMetricsHaveNoNamesAndTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t)
		c := w.dial().collect()
		c.ask(protocol.DoCreate, "", protocol.CreateData{
			Name: "private-name", CWD: w.dir, Env: map[string]string{"KEY": "private-value"},
		})
		c.ask(protocol.DoSend, "private-name", protocol.SendData{Text: "private text"})
		c.all()
		synctest.Wait()
		_, body := w.scrape()
		if strings.Contains(body, "private") || strings.Contains(body, w.dir) {
			t.Error(body)
		}
		if got := parseMetrics(t, body)[`agentctl_sessions{status="idle"}`]; got != 1 {
			t.Errorf("%v sessions", got)
		}
	})
}

func TestMetricsAreForRolesThatWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t)
		for _, role := range append([]protocol.Role{protocol.RoleAgent, protocol.RoleMetrics, ""}, protocol.Roles...) {
			p := NewPipe()
			p.Role = role
			w.serve(p.Listener)
			want := http.StatusOK
			if role == protocol.RoleAgent || role == protocol.RoleObserver {
				want = http.StatusForbidden
			}
			if resp, _ := w.get(p, "/metrics"); resp.StatusCode != want {
				t.Errorf("role %q: %d, want %d", role, resp.StatusCode, want)
			}
		}
		p := NewPipe()
		p.Token = "secret"
		w.serve(p.Listener)
		if resp, _ := w.get(p, "/metrics"); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("without a token: %d", resp.StatusCode)
		}
		_, body := w.scrape()
		if got := parseMetrics(t, body)[`agentctl_errors_total{code="unauthorized"}`]; got != 1 {
			t.Errorf("%v requests without a credential", got)
		}
	})
}

// A credential for metrics opens no connection, in any protocol, and reads only metrics.
func TestTheRoleOfMetricsReadsMetricsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t)
		native, foreign := NewPipe(), NewPipe()
		native.Role, foreign.Role, foreign.Dialect = protocol.RoleMetrics, protocol.RoleMetrics, "agentloop"
		w.serve(native.Listener)
		w.serve(foreign.Listener)
		for _, c := range []struct {
			at   *Pipe
			path string
			want int
		}{
			{native, "/metrics", 200},
			{native, "/healthz", 200},
			{native, protocol.Path, 403},
			{native, dialectPath + "agentloop", 403},
			{native, "/api/sessions", 403},
			{native, "/metrics/", 403},
			{foreign, "/metrics", 403},
			{foreign, "/", 403},
		} {
			resp, body := w.get(c.at, c.path)
			if resp.StatusCode != c.want || c.want == 403 && !strings.Contains(body, errMetrics) {
				t.Errorf("%s: %d %s", c.path, resp.StatusCode, body)
			}
		}
	})
}

func TestEveryMetricHasANameAndHelp(t *testing.T) {
	var names []string
	for _, m := range Metrics {
		if !metricName.MatchString(m.Name) || m.Help == "" || slices.Contains(names, m.Name) {
			t.Errorf("%+v", m.Family)
		}
		names = append(names, m.Name)
	}
}
