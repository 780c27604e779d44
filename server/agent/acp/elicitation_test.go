package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/rpc"
)

// askUser is the request of claude-agent-acp 0.101 for one question of AskUserQuestion.
const askUser = `{"mode":"form","toolCallId":"c","message":"Which database?","requestedSchema":{"type":"object",` +
	`"properties":{"question_0":{"type":"string","title":"Database","oneOf":[{"const":"Postgres","title":"Postgres",` +
	`"description":"as in production"},{"const":"SQLite","title":"SQLite"}]},"question_0_custom":{"type":"string",` +
	`"title":"Other","description":"Type your own answer."}}}}`

const askPage = `{"mode":"url","message":"Log in at https://login.example/a?code=s3cret",` +
	`"url":"https://login.example/a?code=s3cret","elicitationId":"e1"}`

type decide = func(context.Context, protocol.Approval) (agent.Verdict, error)

func verdict(v agent.Verdict) decide {
	return func(context.Context, protocol.Approval) (agent.Verdict, error) { return v, nil }
}

func answer(answers map[string][]string) decide {
	return verdict(agent.Verdict{
		Outcome: protocol.Allowed, Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Answers: answers},
	})
}

func TestAFormIsAQuestion(t *testing.T) {
	r := newTestAgent(t, "plain", connected)
	r.decide = answer(map[string][]string{"question_0": {"SQLite", "for the tests"}})
	r.run(
		`update {"sessionUpdate":"tool_call","toolCallId":"c","title":"Ask","name":"AskUserQuestion"}`,
		"elicit "+askUser,
	)
	r.wantText(`{"action":"accept","content":{"question_0":"SQLite","question_0_custom":"for the tests"}}`)
	want := protocol.Approval{
		Kind: protocol.ApproveQuestion, Title: "Which database?", Tool: "turn/c", Name: "AskUserQuestion", CWD: r.spec.CWD,
		Questions: []protocol.Question{{
			ID: "question_0", Text: "Database", About: "Other: Type your own answer.", Choices: []protocol.Choice{
				{ID: "Postgres", Label: "Postgres", About: "as in production"}, {ID: "SQLite", Label: "SQLite"},
			},
		}},
	}
	if !reflect.DeepEqual(r.asked[0], want) {
		t.Errorf("asked\n%+v\nwant\n%+v", r.asked[0], want)
	}
}

func TestEachOutcomeOfAQuestionIsAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		ask    string
		decide decide
		want   string
	}{
		"an answer": {
			askUser, answer(map[string][]string{"question_0": {"SQLite"}}),
			`{"action":"accept","content":{"question_0":"SQLite"}}`,
		},
		"no answer": {askUser, answer(nil), `{"action":"accept"}`},
		"no fields": {`{"mode":"form","message":"Go on?","requestedSchema":{}}`, answer(nil), `{"action":"accept"}`},
		"a wrong answer": {
			`{"mode":"form","requestedSchema":{"properties":{"n":{"type":"integer"}}}}`,
			answer(map[string][]string{"n": {"x"}}), `{"action":"cancel"}`,
		},
		"denied":    {askUser, deny, `{"action":"decline"}`},
		"by policy": {askUser, verdict(agent.Verdict{Outcome: protocol.Denied}), `{"action":"decline"}`},
		"stopped": {
			askUser, verdict(agent.Verdict{Outcome: protocol.Denied, Decision: protocol.DenyStop}),
			`{"action":"cancel"}`,
		},
		"expired":        {askUser, verdict(agent.Verdict{Outcome: protocol.Expired}), `{"action":"cancel"}`},
		"cancelled":      {askUser, verdict(agent.Verdict{Outcome: protocol.Cancelled}), `{"action":"cancel"}`},
		"a page":         {askPage, answer(nil), `{"action":"accept"}`},
		"a page, denied": {askPage, deny, `{"action":"decline"}`},
	} {
		r := newTestAgent(t, "plain", connected)
		r.decide = c.decide
		r.run("elicit " + c.ask)
		if got := r.text(); got != c.want || len(r.asked) != 1 {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestAPageIsAskedForWithItsURL(t *testing.T) {
	r := newTestAgent(t, "plain", connected)
	r.run("elicit " + askPage)
	a := r.asked[0]
	if a.Title != "Log in at https://login.example/a" || a.Questions != nil ||
		*a.Page != (protocol.Page{URL: "https://login.example/a?code=s3cret", Host: "login.example"}) {
		t.Errorf("asked %+v, page %+v", a, a.Page)
	}
}

// What cannot be asked is refused and noted, and none of it is kept: it may hold secrets.
func TestWhatCannotBeAskedIsRefusedAndNoted(t *testing.T) {
	form := func(message, schema string) string {
		return `{"mode":"form","message":"` + message + `","requestedSchema":` + schema + `}`
	}
	page := func(more, url string) string {
		return `{"mode":"url","message":"A","url":"` + url + `?s3cret","elicitationId":"e"` + more + `}`
	}
	fields := make([]string, 1000)
	for i := range fields {
		fields[i] = fmt.Sprintf(`"s3cret%d":{"type":"string"}`, i)
	}
	const invalid = "-32602"
	for name, c := range map[string]struct{ ask, want, note string }{
		"a nested object": {
			form("A", `{"properties":{"x":{"type":"object","properties":{}}}}`), invalid, "the form cannot be shown",
		},
		"1,000 fields":       {form("A", `{"properties":{`+strings.Join(fields, ",")+`}}`), invalid, "1000 fields"},
		"a large text":       {form("A", `{"description":"`+strings.Repeat("s3cret", 200000)+`"}`), invalid, "bytes"},
		"a large message":    {form(strings.Repeat("A", 1<<20), "{}"), invalid, "the message is longer"},
		"no form":            {`{"mode":"form","message":"A"}`, invalid, "it has no form"},
		"another mode":       {`{"mode":"_voice","message":"A","requestedSchema":{}}`, invalid, "_voice"},
		"another type":       {`{"mode":"url","message":7}`, invalid, "message is no text"},
		"a page without TLS": {page("", "http://login.example/"), invalid, "https"},
		"a user in the URL":  {page("", "https://google.com@login.example/"), invalid, "user"},
		"another session":    {page(`,"sessionId":"s"`, "https://login.example/"), invalid, "not known; it wants a page of login.example"},
		"a login": {
			page(`,"sessionId":"","requestId":1`, "https://login.example/"), `{"action":"cancel"}`, "no turn",
		},
	} {
		r := newTestAgent(t, "plain", connected)
		r.run("elicit " + c.ask)
		if got := r.text(); got != c.want || len(r.asked) != 0 {
			t.Errorf("%s: got %s, asked %+v", name, got, r.asked)
		}
		notes := r.data(protocol.Notice)
		if len(notes) != 1 || !strings.Contains(notes[0].(protocol.NoticeData).Message, c.note) {
			t.Errorf("%s: noted %.300v", name, notes)
		}
		if kept := r.eventLines() + strings.Join(r.logs, "\n"); strings.Contains(kept, "s3cret") {
			t.Errorf("%s: kept %.500s", name, kept)
		}
	}
	r := newTestAgent(t, "plain", connected)
	r.run(`line {"jsonrpc":"2.0","id":"x","method":"elicitation/create","params":{"sessionId":"s","sessionId":"t","message":"s3cret"}}`)
	if notes := r.data(protocol.Notice); len(notes) != 1 || strings.Contains(r.eventLines(), "s3cret") {
		t.Errorf("with a name twice: %s", r.eventLines())
	}
}

func TestAQuestionOutsideOfATurnIsCancelledAndNoted(t *testing.T) {
	r := newReadyAgent(t, "plain")
	in, line := io.Pipe()
	answer, out := io.Pipe()
	conn := rpc.New(in, out, r.client)
	t.Cleanup(func() {
		_ = line.Close()
		_ = answer.Close()
		conn.Wait()
	})
	_, err := io.WriteString(line, `{"jsonrpc":"2.0","id":"x","method":"elicitation/create","params":{"sessionId":"`+
		r.client.session+`",`+askUser[1:]+"}\n")
	if err != nil {
		t.Fatal(err)
	}
	got, err := bufio.NewReader(answer).ReadString('\n')
	if err != nil || !strings.Contains(got, `{"action":"cancel"}`) {
		t.Errorf("answered %s, %v", got, err)
	}
	notes := r.data(protocol.Notice)
	if len(r.asked) != 0 || len(notes) != 1 ||
		!strings.Contains(notes[0].(protocol.NoticeData).Message, "no turn (Which database?)") {
		t.Errorf("asked %+v, noted %+v", r.asked, notes)
	}
}

// waitWithdrawn decides nothing until the request is withdrawn.
func waitWithdrawn(ctx context.Context, _ protocol.Approval) (agent.Verdict, error) {
	<-ctx.Done()
	return agent.Verdict{}, ctx.Err()
}

func TestAnAgentWithdrawsItsRequests(t *testing.T) {
	const send = `,"send":{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"ask-0"}}}`
	for step, want := range map[string]string{
		`elicitsend {"ask":` + askUser + send:      "-32800",
		`asksend {"ask":{"toolCallId":"c"}` + send: "refused: withdrawn",
	} {
		r := newTestAgent(t, "plain", connected)
		r.decide = waitWithdrawn
		r.run(step, "say , then")
		r.wantText(want + ", then")
	}
}

func TestAnInterruptCancelsAQuestion(t *testing.T) {
	r := newTestAgent(t, "plain", connected)
	ctx, cancel := context.WithCancel(t.Context())
	r.decide = func(ctx context.Context, a protocol.Approval) (agent.Verdict, error) {
		cancel()
		return waitWithdrawn(ctx, a)
	}
	if end, err := r.tryRun(ctx, "elicit "+askUser, "hang"); err != nil || end.Reason != protocol.ReasonInterrupted {
		t.Errorf("%+v, %v", end, err)
	}
	r.wantText(`{"action":"cancel"}`)
}

func TestThePageOfAQuestionIsComplete(t *testing.T) {
	complete := func(id string) string {
		return `{"jsonrpc":"2.0","method":"elicitation/complete","params":{"elicitationId":"` + id + `"}}`
	}
	for name, c := range map[string]struct {
		decide decide
		steps  []string
		text   string
		notes  int
	}{
		"before an answer": {
			waitWithdrawn, []string{`elicitsend {"ask":` + askPage + `,"send":` + complete("e1") + `}`}, `{"action":"cancel"}`, 1,
		},
		"after it": {
			answer(nil),
			[]string{
				"elicit " + askPage, "line " + complete("unknown"), "line " + complete("e1"),
				"line " + complete("e1"),
			},
			`{"action":"accept"}`, 1,
		},
		"after a denial": {deny, []string{"elicit " + askPage, "line " + complete("e1")}, `{"action":"decline"}`, 0},
	} {
		r := newTestAgent(t, "plain", connected)
		r.decide = c.decide
		r.run(c.steps...)
		r.wantText(c.text)
		notes := r.data(protocol.Notice)
		if len(notes) != c.notes ||
			len(notes) > 0 && notes[0].(protocol.NoticeData).Message != "the page of login.example is complete" {
			t.Errorf("%s: noted %v", name, notes)
		}
	}
}

func FuzzElicitation(f *testing.F) {
	f.Add([]byte(askUser))
	f.Add([]byte(askPage))
	f.Add([]byte(`{"mode":"url","url":"https://a/?b","message":"\u202e"}`))
	f.Fuzz(func(t *testing.T, params []byte) {
		e, err := readElicitation(params)
		if err != nil {
			return
		}
		a := e.approval()
		if a.Title == "" || (e.form == nil) == (e.page == nil) || !json.Valid(protocol.MustEncode(a)) {
			t.Errorf("%+v of %s", a, params)
		}
	})
}
