//go:build interop

package interop

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
)

// The answers of providers when the usage limit of an account is reached.

// claudeLimited is the answer to a subscription.
func claudeLimited(out *fakemodel.Reply) {
	reset := fmt.Sprint(time.Now().Add(2 * time.Hour).Unix())
	for name, value := range map[string]string{
		"status": "rejected", "representative-claim": "five_hour", "reset": reset,
		"5h-status": "rejected", "5h-reset": reset, "5h-utilization": "1",
		"7d-status": "allowed", "7d-reset": reset, "7d-utilization": "0.4",
	} {
		out.Header("anthropic-ratelimit-unified-"+name, value)
	}
	out.Fail(429, "This request would exceed your account's rate limit. Please try again later.")
}

func codexLimited(out *fakemodel.Reply) {
	out.FailWith(429, obj{"error": obj{
		"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus",
		"resets_at": time.Now().Add(2 * time.Hour).Unix(),
	}})
}

func geminiLimited(out *fakemodel.Reply) {
	out.FailWith(429, obj{"error": obj{
		"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "You exceeded your current quota",
		"details": []obj{{
			"@type": "type.googleapis.com/google.rpc.QuotaFailure",
			"violations": []obj{{
				"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
				"quotaId":     "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
			}},
		}},
	}})
}

// creditUsed is the answer of a provider that agents do not try again.
func creditUsed(out *fakemodel.Reply) {
	out.Fail(402, "You have exceeded your premium request allowance.")
}

// usageLimitHoldsTheQueue reaches a limit with ten messages behind the one that fails. None of them is lost,
// also by a killed server, and none is tried before the queue is released.
func usageLimitHoldsTheQueue(t *testing.T, r *testSession) {
	before, over := len(r.conversation()), filepath.Join(r.cwd, "over")
	texts := []string{"limited until " + over}
	for i := range 10 {
		texts = append(texts, fmt.Sprintf("waiting message %d", i))
	}
	r.send("run touch first.txt")
	a := r.waitCommandApproval("touch first.txt")
	for _, text := range texts {
		r.send(text)
	}
	r.approve(protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce})
	r.waitTurnEnd(protocol.ReasonCompleted)
	var end protocol.TurnEndedData
	r.decode(r.waitEvent(protocol.TurnEnded), &end)
	if end.Reason != protocol.ReasonLimited || end.Code != protocol.CodeLimited {
		t.Fatalf("ended %+v; the log is\n%s", end, r.logText())
	}
	r.checkHeld(texts)
	r.kill()
	r.backdate()
	r.start()
	r.checkHeld(texts)
	for _, q := range r.conversation()[before:] {
		if strings.Contains(string(q.Body), "waiting message") {
			t.Errorf("tried: %s", q.Body)
		}
	}
	if err := os.WriteFile(over, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.do(protocol.DoQueueRelease, protocol.Empty{}, nil)
	for _, text := range texts {
		r.waitTurnEnd(protocol.ReasonCompleted)
		if got := r.agentText(); got != "you said: "+text {
			t.Errorf("agent text %q", got)
		}
	}
}

// checkHeld checks the hold of a usage limit and the queue behind it.
func (r *testSession) checkHeld(want []string) {
	r.t.Helper()
	var snap protocol.SnapshotResult
	r.do(protocol.DoSnapshot, protocol.Empty{}, &snap)
	st := snap.Snapshot.State
	var texts []string
	for i := range st.Queue {
		texts = append(texts, st.Queue[i].Text)
	}
	if h := st.LimitHold(); h == nil || (h.ResetsAt != nil) != r.agent.resets || !slices.Equal(texts, want) {
		r.t.Errorf("hold %s, queue %q; the log is\n%s", protocol.MustEncode(h), texts, r.logText())
	}
}

// Claude with an API key, and OpenCode where the provider names a time, try again in the turn.
func TestSomeAgentsTryAgainAtALimitInTheTurn(t *testing.T) {
	key := claudeAgent
	key.env = func(home, endpoint string) map[string]string {
		env := claudeAgent.env(home, endpoint)
		delete(env, "CLAUDE_CODE_OAUTH_TOKEN")
		env["ANTHROPIC_API_KEY"] = "x"
		return env
	}
	for _, a := range []realAgent{key, openCodeAgent} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			other, refused := modelScript(&a), false
			r := newTestSession(t, &a, func(ctx context.Context, req fakemodel.Request, out *fakemodel.Reply) {
				if req.Offers(a.shellTool) && !refused {
					refused = true
					out.Header("Retry-After", "1")
					out.Fail(429, "You have hit your rate limit.")
					return
				}
				other(ctx, req, out)
			})
			r.send("good morning")
			r.waitTurnEnd(protocol.ReasonCompleted)
			if n := len(r.conversation()); n != 2 || r.agentText() != "you said: good morning" {
				t.Errorf("%d requests, agent text %q", n, r.agentText())
			}
		})
	}
}
