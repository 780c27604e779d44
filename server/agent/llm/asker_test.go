package llm

import (
	"context"
	"slices"
	"testing"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/provider"
)

// A call that asked when the server stopped does not run again, so no answer to it would count.
func TestAQuestionOfACallIsWithdrawnAfterARestart(t *testing.T) {
	script := fakemodel.Turns(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
		out.Call("ask", x("a"))
	}, fakemodel.Say("done"))
	var stored []byte
	tool := &fakeTool{name: "ask", safe: true}
	r := newRig(t, provider.Chat, "qwen", script, tool)
	stopped, stop := context.WithCancel(t.Context())
	r.decide = func(ctx context.Context, _ protocol.Approval) (agent.Verdict, error) {
		stored = slices.Clone(r.state)
		stop()
		return agent.Verdict{}, ctx.Err()
	}
	tool.run = func(ctx context.Context, c *ToolCall, _ func(string)) (ToolResult, error) {
		_, err := c.Asking(ctx, protocol.Approval{Kind: protocol.ApproveQuestion})
		return ToolResult{}, err
	}
	if _, err := r.send(stopped, "go"); err != nil {
		t.Fatal(err)
	}
	question := r.asked[0].Request

	r.asked, r.events = nil, nil
	withdrawn := false
	r.decide = func(ctx context.Context, _ protocol.Approval) (agent.Verdict, error) {
		withdrawn = ctx.Err() != nil
		return agent.Verdict{}, ctx.Err()
	}
	r.open(stored)
	turn := agent.Turn{ID: "t1", Message: protocol.Message{Text: "go"}, Resumed: true}
	end, err := r.agent.Run(t.Context(), turn, r.recorder)
	if err != nil || end.Reason != protocol.ReasonCompleted {
		t.Fatalf("%+v, %v", end, err)
	}
	if len(r.asked) != 1 || r.asked[0].Request != question || !withdrawn {
		t.Errorf("asked %+v, want %s withdrawn", r.asked, question)
	}
	if got := r.results(); !slices.Equal(got, []string{"unknown"}) {
		t.Errorf("results %q", got)
	}
}
