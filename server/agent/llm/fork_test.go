package llm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
)

// answering is a model that answers the last message and calls a tool in each turn.
func answering(_ context.Context, q fakemodel.Request, out *fakemodel.Reply) {
	switch _, result := q.ToolResult(); {
	case isSummary(q):
		out.Text("short")
	case result:
		out.Text("answer to " + q.LastUser())
	default:
		out.Call("shell", x(q.LastUser()))
	}
}

// sentTo returns the texts of users in the last request.
func (r *rig) sentTo() string {
	all := r.fake.Requests()
	var texts []string
	for _, m := range all[len(all)-1].Messages {
		if m.Role == fakemodel.User {
			texts = append(texts, strings.Split(m.Text, "\n")...)
		}
	}
	return strings.Join(texts, ",")
}

func TestAForkHasTheTurnsThroughOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "anthropic", "claude-sonnet-5-5", answering, echo("shell"))
		for i := range 4 {
			if _, err := r.send(t.Context(), fmt.Sprint("m", i+1)); err != nil {
				t.Fatal(err)
			}
		}
		source := r.agent
		for turn, want := range map[string]string{
			"": "new", "t1": "m1,new", "t2": "m1,m2,new", "t3": "m1,m2,m3,new", "t4": "m1,m2,m3,m4,new",
		} {
			forked, _, err := source.Fork(t.Context(), turn)
			if err != nil {
				t.Fatal(err)
			}
			r.open(forked)
			if _, err := r.send(t.Context(), "new"); err != nil {
				t.Fatal(err)
			}
			if got := r.sentTo(); got != want {
				t.Errorf("after %q: %s", turn, got)
			}
			checkPairs(t, r.conversation(t))
		}
		if n := len(source.state.Conversation); n != 16 {
			t.Errorf("the source has %d messages now", n)
		}
	})
}

// A fork of a turn that is in the summary only has the transcript as text.
func TestAForkOfASummarizedTurnHasTheTranscript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "chat", "qwen", answering, echo("shell"))
		fill(t, r)
		if _, err := r.agent.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		forked, _, err := r.agent.Fork(t.Context(), "t1")
		if err != nil {
			t.Fatal(err)
		}
		r.transcript = "User: message 0"
		r.open(forked)
		for _, text := range []string{"new", "newer"} {
			if _, err := r.send(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.sentTo(); strings.Count(got, "User: message 0") != 1 || !strings.HasSuffix(got, "new,newer") {
			t.Errorf("%s", got)
		}
	})
}

func TestUndoForgetsTheLastTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "anthropic", "claude-sonnet-5-5", answering, echo("shell"))
		if _, err := r.agent.Undo(t.Context(), true); protocol.CodeOf(err) != protocol.CodeConflict {
			t.Errorf("nothing to undo: %v", err)
		}
		for i := range 3 {
			if _, err := r.send(t.Context(), fmt.Sprint("m", i+1)); err != nil {
				t.Fatal(err)
			}
		}
		var turns []string
		for range 2 {
			done, err := r.agent.Undo(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}
			turns = append(turns, done.Turn)
			r.open(r.state) // also after a restart
		}
		if _, err := r.send(t.Context(), "new"); err != nil {
			t.Fatal(err)
		}
		if got := r.sentTo(); got != "m1,new" || !slices.Equal(turns, []string{"t3", "t2"}) {
			t.Errorf("undone %q, then sent %s", turns, got)
		}
	})
}

// A turn that was interrupted within a call is forgotten with its open calls.
func TestUndoOfAnInterruptedTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		tool := echo("shell")
		tool.run = func(ctx context.Context, c *ToolCall, _ func(string)) (ToolResult, error) {
			if !strings.Contains(string(c.Input), "stop") {
				return ToolResult{Text: "ran"}, nil
			}
			cancel()
			return ToolResult{}, ctx.Err()
		}
		r := newRig(t, "anthropic", "claude-sonnet-5-5", answering, tool)
		if _, err := r.send(t.Context(), "m1"); err != nil {
			t.Fatal(err)
		}
		if end, _ := r.send(ctx, "stop"); end.Reason != protocol.ReasonInterrupted {
			t.Fatalf("%+v", end)
		}
		if _, err := r.agent.Undo(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		if _, err := r.send(t.Context(), "new"); err != nil {
			t.Fatal(err)
		}
		if got := r.sentTo(); got != "m1,new" {
			t.Errorf("sent %s", got)
		}
		checkPairs(t, r.conversation(t))
	})
}
