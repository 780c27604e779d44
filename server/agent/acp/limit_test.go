package acp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/rpc"
)

// limitNames are the names that the agents of testdata/limits report.
var limitNames = map[string]string{
	"claude-agent-acp-0.101.0": "@agentclientprotocol/claude-agent-acp", "codex-acp-2.6.0": "@agentclientprotocol/codex-acp",
	"copilot-1.0.102": "Copilot", "gemini-cli-0.61.0": "gemini-cli", "opencode-1.18.33": "OpenCode",
	"qwen-code-0.24.4": "qwen-code",
}

// playTurn gives the lines of an agent to a turn and returns its end.
func playTurn(t *testing.T, r *recorder, reports string, lines []string) agent.End {
	t.Helper()
	c := &client{wire: newWire(1), host: r, session: "s"}
	c.config.Name = "it"
	c.agentInfo.Agent = &implementation{Name: reports}
	tn := newTurn(t.Context(), "t", r, "/w", c.known())
	c.lane.setTurn(tn)
	defer c.endTurn(tn)
	a := &Agent{host: r}
	for _, line := range lines {
		var m struct {
			Method string
			Params map[string]json.RawMessage
			Result *promptResult
			Error  *rpc.Error
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		switch {
		case m.Method != "":
			m.Params["sessionId"] = []byte(`"s"`)
			c.HandleNotification(m.Method, protocol.MustEncode(m.Params))
		case m.Error != nil:
			end, err := a.failedPrompt(c, tn, m.Error)
			if err != nil {
				t.Errorf("the turn fails: %v", err)
			}
			return tn.settle(end)
		default: // Copilot repeats its usage: the turn has none
			return tn.settle(m.Result.end())
		}
	}
	t.Fatal("no response")
	return agent.End{}
}

// The recordings are of real agents whose model answered as its provider does at a limit. Claude had a
// token of a subscription that the model did not check.
func TestRecordedUsageLimitsEndTheTurn(t *testing.T) {
	files, err := filepath.Glob("testdata/limits/*.jsonl")
	if err != nil || len(files) != len(limitNames) {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r := &recorder{changed: make(chan struct{}, 1)}
			lines := strings.Split(strings.TrimSpace(string(b)), "\n")
			end := playTurn(t, r, limitNames[name], lines)
			if end.Reason != protocol.ReasonLimited || end.Code != protocol.CodeLimited || end.Limit == nil || end.Limit.TookIn ||
				strings.Contains(end.Message, "Internal error") {
				t.Errorf("ended %+v, %+v", end, end.Limit)
			}
			switch resets := end.Limit.ResetsAt; {
			case strings.HasPrefix(name, "claude"):
				if resets.Unix() != 1795898875 {
					t.Errorf("resets %s", resets)
				}
			case strings.HasPrefix(name, "codex"):
				if resets.Before(time.Now()) || resets.Minute() != 47 || resets.Hour() != 20 {
					t.Errorf("resets %s", resets)
				}
			case !resets.IsZero():
				t.Errorf("resets %s", resets)
			}
			said := `{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk",` +
				`"content":{"type":"text","text":"I begin. "}}}}`
			call := `{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"ls"}}}`
			for _, work := range []string{said, call} {
				r := &recorder{changed: make(chan struct{}, 1)}
				if end := playTurn(t, r, limitNames[name], append([]string{work}, lines...)); end.Limit == nil || !end.Limit.TookIn {
					t.Errorf("after %s: %+v", work, end)
				}
			}
		})
	}
}

func TestTheWindowsOfAnAccountAreReportedWhenTheyChange(t *testing.T) {
	b, err := os.ReadFile("testdata/limits/claude-agent-acp-0.101.0.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	// Earlier releases had one window only.
	one := `{"method":"session/update","params":{"update":{"sessionUpdate":"usage_update","used":1,"size":2,"_meta":` +
		`{"_claude/rateLimit":{"status":"allowed_warning","rateLimitType":"seven_day_opus","utilization":0.5}}}}}`
	r := &recorder{changed: make(chan struct{}, 1)}
	playTurn(t, r, limitNames["claude-agent-acp-0.101.0"], append([]string{lines[0], lines[0], one, one}, lines[1:]...))
	var reports []protocol.LimitsData
	for _, e := range r.events {
		if e.Type == protocol.LimitsUpdated {
			reports = append(reports, e.Data.(protocol.LimitsData))
		}
	}
	if len(reports) != 2 || len(reports[0].Windows) != 2 || len(reports[1].Windows) != 3 {
		t.Fatalf("%+v", reports)
	}
	if w := reports[0].Windows; w[0].Name != "five_hour" || w[0].Percent != 100 || w[0].ResetsAt.Unix() != 1795898875 ||
		w[1].Name != "seven_day" || w[1].Percent != 40 {
		t.Errorf("%+v", w)
	}
	if w := reports[1].Windows[2]; w.Name != "seven_day_opus" || w.Percent != 50 || w.ResetsAt != nil {
		t.Errorf("%+v", w)
	}
}

func TestOtherFailuresAreNoLimits(t *testing.T) {
	for _, text := range []string{
		`{"code":-32603,"message":"Internal error","data":{"details":"400 no such luck"}}`,
		`{"code":-32603,"message":"write /w/x: disk quota exceeded"}`,
		`{"code":500,"message":"the model failed"}`,
		`{"code":-32603,"message":"the model stopped: max_output_tokens"}`,
	} {
		r := &recorder{changed: make(chan struct{}, 1)}
		c := &client{host: r}
		e := new(rpc.Error)
		if err := json.Unmarshal([]byte(text), e); err != nil {
			t.Fatal(err)
		}
		end, _ := (&Agent{host: r, ctx: t.Context()}).failedPrompt(c, newTurn(t.Context(), "t", r, "/w", c.known()), e)
		if end.Reason == protocol.ReasonLimited {
			t.Errorf("%s: %+v", text, end)
		}
	}
}
