//go:build interop

package interop

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// databases is the question of all agents.
var databases = obj{
	"question": "Which database?", "header": "Database", "multiSelect": false, "options": []obj{
		{"label": "Postgres", "description": "as in production"}, {"label": "SQLite", "description": "one file"},
	},
}

func claudeAsks() (string, any) {
	return "AskUserQuestion", obj{"questions": []obj{databases, {
		"question": "Which days?", "header": "Days", "multiSelect": true, "options": []obj{
			{"label": "Monday", "description": "quiet"}, {"label": "Tuesday", "description": "busy"},
		},
	}}}
}

func codexAsks() (string, any) {
	question := maps.Clone(databases)
	question["id"] = "db"
	return "request_user_input", obj{"questions": []obj{question}}
}

func qwenAsks() (string, any) { return "ask_user_question", obj{"questions": []obj{databases}} }

// questionTools matches the names of tools that ask users.
var questionTools = regexp.MustCompile(`(?i)(^|_)ask_|question|user_input`)

func questionIsAnswered(t *testing.T, r *testSession) {
	r.send("ask")
	var q protocol.Approval
	r.decode(r.waitEvent(protocol.ApprovalRequested), &q)
	if q.Kind != protocol.ApproveQuestion || len(q.Questions) == 0 || len(q.Questions[0].Choices) < 2 ||
		q.Questions[0].Choices[1].Label != "SQLite" {
		t.Fatalf("asked %s", protocol.MustEncode(q))
	}
	r.do(protocol.DoApprove, protocol.ApproveData{
		Request: q.Request, Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{
			Answers: map[string][]string{q.Questions[0].ID: {"SQLite"}},
		},
	}, nil)
	r.waitTurnEnd(protocol.ReasonCompleted)
	if got := r.agentText(); !strings.Contains(got, "SQLite") || strings.Contains(got, "Postgres") {
		t.Errorf("the model got %q", got)
	}
}

// modelHasNoQuestionTool is about an agent that gives its model no tool to ask with.
func modelHasNoQuestionTool(t *testing.T, r *testSession) {
	r.send("what can you do?")
	r.waitTurnEnd(protocol.ReasonCompleted)
	asked := r.conversation()
	for _, tool := range asked[len(asked)-1].Tools {
		if questionTools.MatchString(tool) {
			t.Errorf("the model has the tool %s", tool)
		}
	}
}

// waitQuestion waits for the questions of Claude. A client that attaches now has them too.
func (r *testSession) waitQuestion() protocol.Approval {
	r.t.Helper()
	var a protocol.Approval
	r.decode(r.waitEvent(protocol.ApprovalRequested), &a)
	want := []protocol.Question{
		{
			ID: "question_0", Text: "Database", Choices: []protocol.Choice{
				{ID: "Postgres", Label: "Postgres", About: "as in production"}, {
					ID: "SQLite", Label: "SQLite", About: "one file",
				},
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
	snap, err := wsclient.Call[protocol.SnapshotResult](
		r.t.Context(), late, protocol.DoSnapshot, r.session, protocol.Empty{},
	)
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
			r := newTestSession(t, &a, modelScript(&a))
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

// askerTool is the tool of the MCP server that this program is, for a model.
const askerTool = "mcp__asker__log_in"

// newAskerSession returns a session, not created, with Claude Code and a model that calls askerTool if it
// has it.
func newAskerSession(t *testing.T) (r *testSession, self string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a := claudeAgent
	a.env = func(home, endpoint string) map[string]string {
		env := claudeAgent.env(home, endpoint)
		env["ENABLE_TOOL_SEARCH"] = "false" // the model has all tools
		return env
	}
	other := modelScript(&a)
	script := func(ctx context.Context, req fakemodel.Request, out *fakemodel.Reply) {
		if _, ended := req.ToolResult(); !ended && req.Offers(askerTool) {
			out.Call(askerTool, obj{})
			return
		}
		other(ctx, req, out)
	}
	return &testSession{t: t, agent: &a, model: fakemodel.New(script), home: shortDir(t), cwd: shortDir(t)}, self
}

// What an MCP server asks of a user goes through the agent: a form with a password, then a page.
func TestAnMCPServerAsksThroughClaude(t *testing.T) {
	const secret = "hunter2-is-the-secret"
	r, self := newAskerSession(t)
	r.mcp = obj{"asker": obj{"command": self, "env": obj{mcpVariable: "1"}}}
	r.create()
	r.send("log in")
	var q protocol.Approval
	for r.decode(r.waitEvent(protocol.ApprovalRequested), &q); q.Kind != protocol.ApproveQuestion; {
		r.approve(protocol.ApproveData{Request: q.Request, Decision: protocol.AllowOnce}) // the call of the tool
		r.decode(r.waitEvent(protocol.ApprovalRequested), &q)
	}
	if f := q.Questions; q.Title != "Who are you?" || len(f) != 4 || f[0].Wants() != "required · at most 5 characters" ||
		!f[2].Secret || f[3].Default[0] != "true" {
		t.Fatalf("asked %+v", q)
	}
	d := protocol.ApproveData{Request: q.Request, Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{
		Answers: map[string][]string{"user": {"too long"}}, Secrets: map[string][]string{"password": {secret}},
	}}
	if err := r.try(protocol.DoApprove, d, nil); protocol.CodeOf(err) != protocol.CodeInvalidMessage {
		t.Errorf("a wrong answer: %v", err)
	}
	d.Input.Answers["user"] = []string{"ada"}
	r.do(protocol.DoApprove, d, nil)
	r.decode(r.waitEvent(protocol.ApprovalRequested), &q)
	if q.Title != "Log in at https://login.example/authorize" || q.Page == nil || q.Page.Host != "login.example" || !q.Page.Hidden {
		t.Fatalf("asked %+v", q)
	}
	var page protocol.OpenPageResult
	if r.do(protocol.DoOpenPage, protocol.OpenPageData{Request: q.Request}, &page); page.PageURL != loginURL {
		t.Errorf("page %+v", page)
	}
	r.do(protocol.DoApprove, protocol.ApproveData{Request: q.Request, Decision: protocol.AllowOnce}, nil)
	r.waitTurnEnd(protocol.ReasonCompleted)
	content := fmt.Sprintf(`{"password":%q,"stay":true,"user":"ada"}`, secret)
	if want := fmt.Sprintf("accept %d bytes, accept", len(content)); !strings.Contains(r.agentText(), want) {
		t.Errorf("the server got %q, want %s", r.agentText(), want)
	}
	for _, e := range r.seen {
		if text := string(e.Data); strings.Contains(text, secret) || strings.Contains(text, "the-secret-query") {
			t.Errorf("a secret in %s", text)
		}
	}
	if log := r.logText(); strings.Contains(log, secret) || strings.Contains(log, "the-secret-query") {
		t.Errorf("a secret in the log\n%s", log)
	}
}

// Codex asks with a tool that its configuration enables: answered with a choice, with a note, skipped, interrupted,
// and with a server that is killed while it waits.
func TestCodexAsksQuestions(t *testing.T) {
	a := codexAgent
	for version := 1; version <= 2; version++ {
		a.acp = version
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			r := newTestSession(t, &a, modelScript(&a))
			ask := func() (q protocol.Approval) {
				t.Helper()
				r.send("ask")
				r.decode(r.waitEvent(protocol.ApprovalRequested), &q)
				if f := q.Questions; q.Kind != protocol.ApproveQuestion || len(f) != 1 || f[0].Text != "Which database?" ||
					f[0].ID != "db" || f[0].Closed || len(f[0].Choices) != 3 || f[0].Choices[1].Label != "SQLite" {
					t.Fatalf("asked %s", protocol.MustEncode(q))
				}
				return q
			}
			q := ask()
			r.do(protocol.DoApprove, protocol.ApproveData{
				Request: q.Request, Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{
					Answers: map[string][]string{"db": {"SQLite", "for the tests"}},
				},
			}, nil)
			r.waitTurnEnd(protocol.ReasonCompleted)
			if got := r.agentText(); !strings.Contains(got, `{"answers":["SQLite","user_note: for the tests"]}`) {
				t.Errorf("the model got %q", got)
			}

			q = ask()
			r.do(protocol.DoApprove, protocol.ApproveData{Request: q.Request, Decision: protocol.Deny}, nil)
			r.waitTurnEnd(protocol.ReasonCompleted)
			if got := r.agentText(); !strings.Contains(got, `{"answers":{}}`) {
				t.Errorf("after a skipped question: %q", got)
			}

			q = ask()
			r.do(protocol.DoInterrupt, protocol.InterruptData{}, nil)
			r.waitCancelled(q.Request)
			r.waitTurnEnd(protocol.ReasonInterrupted)

			q = ask()
			r.kill()
			r.start()
			r.waitCancelled(q.Request)
			r.waitTurnEnd(protocol.ReasonError)
			r.checkContext("SQLite")
		})
	}
}
