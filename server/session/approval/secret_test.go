package approval

import (
	"reflect"
	"strings"
	"testing"

	"agentctl/protocol"
)

// form is a request with a secret question and another.
func form(id string) protocol.Approval {
	a := question(id)
	a.Questions = []protocol.Question{
		{ID: "user", Text: "User?", Field: protocol.Field{Required: true}},
		{ID: "pw", Text: "Password?", Field: protocol.Field{Secret: true}},
	}
	return a
}

// The agent gets the answer to a secret question. No event and no stored resolution has it.
func TestAnswersToSecretQuestionsReachTheAgentAlone(t *testing.T) {
	for name, in := range map[string]protocol.ApprovalInput{
		"as a secret": {
			Answers: map[string][]string{"user": {"ada"}}, Secrets: map[string][]string{"pw": {"hunter2"}},
		},
		"as an answer": {Answers: map[string][]string{"user": {"ada"}, "pw": {"hunter2"}}},
	} {
		r := newRig(t)
		w := r.ask(form("q"))
		a, err := r.answer(protocol.ApproveData{Request: "q", Decision: protocol.AllowOnce, Input: &in})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := map[string][]string{"user": {"ada"}, "pw": {"hunter2"}}
		if v, ok := verdict(w); !ok || !reflect.DeepEqual(v.Input.Answers, want) || v.Input.Secrets != nil {
			t.Errorf("%s: verdict %+v", name, v.Input)
		}
		for _, kept := range []string{string(protocol.MustEncode(a.Resolution)), string(r.stored["q"])} {
			if strings.Contains(kept, "hunter2") || !strings.Contains(kept, `"pw":["[hidden]"]`) {
				t.Errorf("%s: kept %s", name, kept)
			}
		}
		// The agent asks again after the answer was lost with a killed server.
		if v, ok := verdict(r.ask(form("q"))); !ok || v.Outcome != protocol.Cancelled || v.Input != nil {
			t.Errorf("%s: asked again: %+v, %t", name, v, ok)
		}
	}
	r := newRig(t)
	r.ask(form("q"))
	a, err := r.answer(protocol.ApproveData{Request: "q", Decision: protocol.Deny, Input: &protocol.ApprovalInput{
		Answers: map[string][]string{"pw": {"hunter2"}}, Secrets: map[string][]string{"pw": {"hunter2"}},
	}})
	if kept := string(r.stored["q"]); err != nil || strings.Contains(kept, "hunter2") || a.Resolution.secret != nil {
		t.Errorf("denied: %s, %v", kept, err)
	}
}

func TestAWrongAnswerIsRefusedWithItsQuestion(t *testing.T) {
	r := newRig(t)
	w := r.ask(form("q"))
	for _, in := range []*protocol.ApprovalInput{nil, {}, {Secrets: map[string][]string{"pw": {"hunter2"}}}} {
		_, err := r.answer(protocol.ApproveData{Request: "q", Decision: protocol.AllowOnce, Input: in})
		if protocol.CodeOf(err) != protocol.CodeInvalidMessage || !strings.Contains(err.Error(), `"user"`) {
			t.Errorf("%+v: %v", in, err)
		}
	}
	if _, ok := verdict(w); ok || len(r.st.Approvals) != 1 {
		t.Error("the request was resolved")
	}
	if _, err := r.answer(protocol.ApproveData{Request: "q", Decision: protocol.Deny}); err != nil {
		t.Errorf("denied without an answer: %v", err)
	}
}

func TestTheQueryOfAPageIsForThoseWhoDecide(t *testing.T) {
	r := newRig(t)
	const whole = "https://bücher.example/login?code=s3cret#frag"
	a := question("q")
	a.Title, a.Why, a.Page = "Open "+whole, "at "+whole, &protocol.Page{URL: whole}
	w := r.ask(a)
	asked := r.st.PendingApproval("q")
	if text := string(protocol.MustEncode(asked)); strings.Contains(text, "s3cret") || strings.Contains(text, "frag") {
		t.Errorf("recorded %s", text)
	}
	if *asked.Page != (protocol.Page{
		URL: "https://xn--bcher-kva.example/login", Host: "xn--bcher-kva.example", Hidden: true,
	}) || asked.Options[0].Label != "Opened" {
		t.Errorf("asked %+v, %+v", asked.Page, asked.Options)
	}
	for _, request := range []string{"q", ""} {
		page, err := r.p.Page(r.st, request)
		if err != nil || page.Request != "q" || page.PageURL != "https://xn--bcher-kva.example/login?code=s3cret#frag" {
			t.Errorf("%+v, %v", page, err)
		}
	}
	r.ask(question("other"))
	if _, err := r.p.Page(r.st, "other"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("of a request without a page: %v", err)
	}
	if _, err := r.answer(protocol.ApproveData{Request: "q", Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	if _, ok := verdict(w); !ok {
		t.Error("no verdict")
	}
	if _, err := r.p.Page(r.st, "q"); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("of a decided request: %v", err)
	}
	a = question("bad")
	a.Page = &protocol.Page{URL: "javascript:alert(1)"}
	if v, ok := verdict(r.ask(a)); !ok || v.Outcome != protocol.Denied || r.st.PendingApproval("bad") != nil {
		t.Errorf("a page that may not be opened: %+v, %t", v, ok)
	}
}
