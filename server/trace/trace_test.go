package trace

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParse(t *testing.T) {
	const trace, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for header, ok := range map[string]bool{
		"00-" + trace + "-" + span + "-01":                    true,
		"cc-" + trace + "-" + span + "-01-later":              true,
		"00-" + trace + "-" + span + "-01-later":              false,
		"ff-" + trace + "-" + span + "-01":                    false,
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01":  false,
		"00-" + trace + "-" + strings.Repeat("0", 16) + "-01": false,
		"00-" + strings.Repeat("x", 32) + "-" + span + "-01":  false,
		"00-" + trace + "-" + strings.Repeat("x", 16) + "-01": false,
		"00-" + trace[1:] + "-" + span + "-01":                false,
		"":                                                    false,
	} {
		if got := Parse(header); (got != Context{}) != ok {
			t.Errorf("%q: %x", header, got)
		}
	}
}

// A collector answers the requests of an exporter.
type collector func(*http.Request) (*http.Response, error)

func (c collector) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

func start(c collector, log io.Writer) *Exporter {
	return New(Options{
		URL: "http://collector/v1/traces", Headers: map[string]string{"Api-Key": "k"},
		Service: "agentctl", Version: "1",
		Client: &http.Client{Transport: c}, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
}

func TestSpansAreExportedAsOTLP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bodies []string
		e := start(func(r *http.Request) (*http.Response, error) {
			b, err := io.ReadAll(r.Body)
			if r.Header.Get("Api-Key") != "k" || r.Header.Get("Content-Type") != "application/json" || err != nil {
				t.Errorf("%v %v", r.Header, err)
			}
			bodies = append(bodies, string(b))
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		}, io.Discard)
		at := time.Unix(10, 5)
		parent := Parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		s := e.Begin(parent, "turn", at, Attribute{"a", "b"}, Attribute{"empty", ""})
		s.End(at.Add(time.Second), "agent_failed", Attribute{"c", "d"})
		time.Sleep(2 * flushInterval)
		e.Begin(Context{}, "last", at).End(at, "")
		e.Close()
		if len(bodies) != 2 {
			t.Fatalf("%q", bodies)
		}
		for _, want := range []string{
			`"key":"service.name","value":{"stringValue":"agentctl"}`,
			`"traceId":"0af7651916cd43dd8448eb211c80319c"`, `"parentSpanId":"b7ad6b7169203331"`,
			`"startTimeUnixNano":"10000000005","endTimeUnixNano":"11000000005"`,
			`"attributes":[{"key":"a","value":{"stringValue":"b"}},{"key":"c","value":{"stringValue":"d"}}]`,
			`"status":{"code":2,"message":"agent_failed"}`,
		} {
			if !strings.Contains(bodies[0], want) || !json.Valid([]byte(bodies[0])) {
				t.Errorf("no %s in %s", want, bodies[0])
			}
		}
		if !strings.Contains(bodies[1], `"name":"last"`) || strings.Contains(bodies[1], "parentSpanId") {
			t.Errorf("%s", bodies[1])
		}
	})
}

func TestACollectorThatHangsBlocksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		e := start(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, errors.New("hangs")
		}, &log)
		began := time.Now()
		for range 3 * maxQueued {
			e.Begin(Context{}, "x", began).End(began, "")
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("waited %v", took)
		}
		e.Close()
		if e.Dropped() != 3*maxQueued {
			t.Errorf("%d dropped", e.Dropped())
		}
		if n := strings.Count(log.String(), "traces are not exported"); n != 1 {
			t.Errorf("logged %d times", n)
		}
	})
}

func TestWithoutAnExporterThereAreNoSpans(t *testing.T) {
	var e *Exporter
	s := e.Begin(Context{}, "x", time.Now())
	s.End(time.Now(), "")
	e.Close()
	if s != nil || s.Of() != (Context{}) || e.Dropped() != 0 {
		t.Error(s)
	}
}
