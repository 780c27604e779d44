package session

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"testing"

	"agentctl/protocol"
	"agentctl/server/trace"
)

// testSpan is a span as a collector gets it.
type testSpan struct {
	TraceID, SpanID, ParentSpanID, Name, StartTimeUnixNano, EndTimeUnixNano string

	Status struct{ Message string }
}

// spanCollector keeps the spans of requests, by name.
type spanCollector map[string]testSpan

func (c spanCollector) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var body struct {
		ResourceSpans []struct{ ScopeSpans []struct{ Spans []testSpan } }
	}
	if err := json.Unmarshal(b, &body); err != nil {
		return nil, err
	}
	for _, s := range body.ResourceSpans[0].ScopeSpans[0].Spans {
		c[s.Name] = s
	}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func TestATraceLeadsFromTheCommandToTheEndOfTheTurn(t *testing.T) {
	spans := spanCollector{}
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.close()
		exporter := trace.New(trace.Options{
			URL: "http://collector", Client: &http.Client{Transport: spans}, Log: slog.New(slog.DiscardHandler),
		})
		r.cfg.Traces = exporter
		r.open()
		id := r.create()
		who := anna
		who.Trace = trace.Parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		r.do(who, newCommand(protocol.DoSend, id, protocol.SendData{Text: "go"}))
		r.agents.run().emit(
			Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "t1", Name: "read"}},
			Event{Type: protocol.ToolEnded, Data: protocol.ToolEndedData{Tool: "t1", Status: protocol.ToolFailed}},
		)
		r.agents.run().finish(End{
			Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: "private",
		}, nil)
		r.waitIdle()
		r.close()
		exporter.Close()
		r.cfg.Traces = nil
		r.open()

		parents := map[string]string{
			"command send": "b7ad6b7169203331", "commit": spans["command send"].SpanID,
			"turn": spans["command send"].SpanID, "tool": spans["turn"].SpanID,
		}
		for name, parent := range parents {
			s, ok := spans[name]
			if !ok || s.ParentSpanID != parent || s.TraceID != "0af7651916cd43dd8448eb211c80319c" {
				t.Errorf("%s: %+v, want parent %s", name, s, parent)
			}
			if s.EndTimeUnixNano < s.StartTimeUnixNano {
				t.Errorf("%s ends before it starts: %+v", name, s)
			}
		}
		if got := spans["turn"].Status.Message; got != "agent_failed" {
			t.Errorf("turn: %q", got)
		}
		if got := spans["tool"].Status.Message; got != "failed" {
			t.Errorf("tool: %q", got)
		}
	})
}
