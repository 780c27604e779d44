//go:build interop

package interop

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// askingScript is modelScript, but the model answers "ask" with a call of Claude's question tool.
func askingScript(a *realAgent) fakemodel.Script {
	other := modelScript(a)
	return func(ctx context.Context, req fakemodel.Request, out *fakemodel.Reply) {
		if _, ended := req.ToolResult(); ended || !req.Offers("AskUserQuestion") || !strings.HasSuffix(req.LastUser(), "ask") {
			other(ctx, req, out)
			return
		}
		out.Call("AskUserQuestion", obj{"questions": []obj{
			{
				"question": "Which database?", "header": "Database", "multiSelect": false, "options": []obj{
					{"label": "Postgres", "description": "as in production"}, {"label": "SQLite", "description": "one file"},
				},
			},
			{
				"question": "Which days?", "header": "Days", "multiSelect": true, "options": []obj{
					{"label": "Monday", "description": "quiet"}, {"label": "Tuesday", "description": "busy"},
				},
			},
		}})
	}
}

// waitQuestion waits for the questions of askingScript. A client that attaches now has them too.
func (r *testSession) waitQuestion() protocol.Approval {
	r.t.Helper()
	var a protocol.Approval
	r.decode(r.waitEvent(protocol.ApprovalRequested), &a)
	want := []protocol.Question{
		{
			ID: "question_0", Text: "Database", Choices: []protocol.Choice{
				{ID: "Postgres", Label: "Postgres", About: "as in production"}, {ID: "SQLite", Label: "SQLite", About: "one file"},
			},
		},
		{
			ID: "question_1", Text: "Days", Many: true, Choices: []protocol.Choice{
				{ID: "Monday", Label: "Monday", About: "quiet"}, {ID: "Tuesday", Label: "Tuesday", About: "busy"},
			},
		},
	}
	for i, about := range []string{"Which database?", "Which days?"} {
		if len(a.Questions) == 2 && strings.HasPrefix(a.Questions[i].About, about+"\nOther: Type your own answer") {
			want[i].About = a.Questions[i].About
		}
	}
	if a.Kind != protocol.ApproveQuestion || a.Name != "AskUserQuestion" || !reflect.DeepEqual(a.Questions, want) {
		r.t.Fatalf("asked %+v", a)
	}
	late := wsclient.New("unix://"+filepath.Join(r.data, "agentctl.sock"), wsclient.Options{Name: "late"})
	defer func() { _ = late.Close() }()
	snap, err := wsclient.Call[protocol.SnapshotResult](r.t.Context(), late, protocol.DoSnapshot, r.session, protocol.Empty{})
	if err != nil {
		r.t.Fatal(err)
	}
	if p := snap.Snapshot.State.PendingApproval(a.Request); p == nil || !reflect.DeepEqual(p.Questions, a.Questions) {
		r.t.Errorf("a late client has %+v", snap.Snapshot.State.Approvals)
	}
	return a
}

// Claude's question tool, in both versions of the protocol: answered, skipped, interrupted, and with a
// server that is killed while it waits.
func TestClaudeAsksQuestions(t *testing.T) {
	for version := 1; version <= 2; version++ {
		a := claudeAgent
		a.acp = version
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			r := newTestSession(t, &a, askingScript(&a))
			r.send("ask")
			q := r.waitQuestion()
			wrong := protocol.ApproveData{Request: q.Request, Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{
				Answers: map[string][]string{"question_9": {"x"}},
			}}
			if err := r.try(protocol.DoApprove, wrong, nil); protocol.CodeOf(err) != protocol.CodeInvalidMessage ||
				!strings.Contains(err.Error(), "question_9") {
				t.Errorf("a wrong answer: %v", err)
			}
			r.do(protocol.DoApprove, protocol.ApproveData{
				Request: q.Request, Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Answers: map[string][]string{
					"question_0": {"SQLite", "for the tests"}, "question_1": {"Monday", "Tuesday", "and Sundays"},
				}},
			}, nil)
			r.waitToolEnd(q.Tool, protocol.ToolCompleted)
			r.waitTurnEnd(protocol.ReasonCompleted)
			for _, want := range []string{"SQLite", "for the tests", "Monday, Tuesday, and Sundays"} {
				if !strings.Contains(r.agentText(), want) {
					t.Errorf("the model got %q, without %q", r.agentText(), want)
				}
			}

			r.send("ask")
			q = r.waitQuestion()
			r.do(protocol.DoApprove, protocol.ApproveData{Request: q.Request, Decision: protocol.Deny}, nil)
			r.waitTurnEnd(protocol.ReasonCompleted)
			if got := r.agentText(); !strings.HasPrefix(got, "the tool said:") || strings.Contains(got, "SQLite") {
				t.Errorf("after a skipped question: %q", got)
			}

			r.send("ask")
			q = r.waitQuestion()
			r.do(protocol.DoInterrupt, protocol.InterruptData{}, nil)
			r.waitCancelled(q.Request)
			r.waitTurnEnd(protocol.ReasonInterrupted)

			r.send("ask")
			q = r.waitQuestion()
			r.kill()
			r.start()
			r.waitCancelled(q.Request)
			r.waitTurnEnd(protocol.ReasonError)
			r.send("good morning")
			r.waitTurnEnd(protocol.ReasonCompleted)
			if got := r.agentText(); got != "you said: good morning" {
				t.Errorf("after the restart: %q", got)
			}
		})
	}
}

func (r *testSession) waitCancelled(request string) {
	r.t.Helper()
	var d protocol.ApprovalResolvedData
	if r.decode(r.waitEvent(protocol.ApprovalResolved), &d); d.Request != request || d.Outcome != protocol.Cancelled {
		r.t.Errorf("resolved %+v", d)
	}
}
