package approval

import (
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/record"
)

func TestEditedInputIsForAgentsThatTakeIt(t *testing.T) {
	once, always := protocol.AllowOnce, protocol.AllowAlways
	for _, c := range []struct {
		takes    bool
		kind     string
		decision protocol.Decision
		input    protocol.ApprovalInput
		code     protocol.Code
	}{
		{true, protocol.ApproveCommand, once, protocol.ApprovalInput{Command: "new"}, ""},
		{true, protocol.ApproveCommand, always, protocol.ApprovalInput{Command: "old"}, ""},
		{false, protocol.ApproveCommand, once, protocol.ApprovalInput{Command: "old"}, ""},
		{false, protocol.ApproveCommand, once, protocol.ApprovalInput{Command: "new"}, protocol.CodeUnsupported},
		{true, protocol.ApproveCommand, always, protocol.ApprovalInput{Command: "new"}, protocol.CodeUnsupported},
		{true, protocol.ApproveTool, once, protocol.ApprovalInput{Command: "new"}, protocol.CodeUnsupported},
		{true, protocol.ApproveTool, once, protocol.ApprovalInput{Patch: "new"}, ""},
		{false, protocol.ApproveTool, once, protocol.ApprovalInput{Patch: "new"}, protocol.CodeUnsupported},
	} {
		r := newRig(t)
		*r.terms.Agent = agent.Capabilities{TakesPatch: c.takes, TakesCommand: c.takes}
		w := r.ask(protocol.Approval{Request: "q", Kind: c.kind, Title: "p", Command: "old"})
		if got := r.st.Approvals[0].Editable; got != (c.takes && c.kind == protocol.ApproveCommand) {
			t.Errorf("%+v: editable: %t", c, got)
		}
		_, err := r.answer(protocol.ApproveData{Request: "q", Decision: c.decision, Input: &c.input})
		v, received := verdict(w)
		switch {
		case c.code != "":
			if protocol.CodeOf(err) != c.code || received || len(r.st.Approvals) != 1 {
				t.Errorf("%+v: %v, verdict %+v", c, err, v)
			}
		case err != nil || !received || v.Input.Command != c.input.Command || v.Input.Patch != c.input.Patch:
			t.Errorf("%+v: %v, verdict %+v", c, err, v)
		}
	}
}

func TestInvalidAnswersAreRefused(t *testing.T) {
	huge := &protocol.ApprovalInput{Answers: map[string][]string{"a": {strings.Repeat("x", protocol.MaxEvent)}}}
	for name, c := range map[string]struct {
		d    protocol.ApproveData
		code protocol.Code
	}{
		"no decision":        {protocol.ApproveData{Request: "q", Decision: "perhaps"}, protocol.CodeInvalidMessage},
		"an unknown option":  {protocol.ApproveData{Request: "q", Option: "ever"}, protocol.CodeNotFound},
		"another decision":   {protocol.ApproveData{Request: "q", Option: "yes", Decision: "deny"}, protocol.CodeInvalidMessage},
		"a question, always": {protocol.ApproveData{Request: "q", Decision: "allow_always"}, protocol.CodeUnsupported},
		"two are pending":    {protocol.ApproveData{Decision: "deny"}, protocol.CodeAmbiguous},
		"a long reason": {
			protocol.ApproveData{Request: "q", Decision: "deny", Reason: strings.Repeat("x", record.LongText+1)},
			protocol.CodeTooLarge,
		},
		"a huge input": {protocol.ApproveData{Request: "q", Decision: "deny", Input: huge}, protocol.CodeTooLarge},
	} {
		r := newRig(t)
		q := question("q")
		q.Options = []protocol.Option{{ID: "yes", Kind: protocol.AllowOnce}}
		r.ask(q)
		r.ask(question("other"))
		_, err := r.answer(c.d)
		e := protocol.AsError(err)
		if e.Code != c.code || len(r.st.Approvals) != 2 || (e.Limit > 0) != (c.code == protocol.CodeTooLarge) ||
			e.Message == "" {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestRulesAreBounded(t *testing.T) {
	r := newRig(t)
	r.caller.Limits.Rules = 1
	r.ask(command("1", "ls"))
	r.ask(command("2", "pwd"))
	if _, err := r.answer(protocol.ApproveData{Request: "1", Decision: protocol.AllowAlways}); err != nil {
		t.Fatal(err)
	}
	_, err := r.answer(protocol.ApproveData{Request: "2", Decision: protocol.AllowAlways})
	if protocol.CodeOf(err) != protocol.CodeTooMany || len(r.st.Approvals) != 1 {
		t.Errorf("%v", err)
	}
}
