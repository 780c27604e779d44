package approval

import (
	"encoding/json"
	"slices"
	"testing"

	"agentctl/protocol"
)

func TestEveryOptionShownCanBeTaken(t *testing.T) {
	always := protocol.Option{ID: "a", Kind: protocol.AllowAlways}
	for name, c := range map[string]struct {
		ask  protocol.Approval
		want []string
	}{
		"a question cannot be allowed always": {
			protocol.Approval{Kind: protocol.ApproveQuestion, Options: []protocol.Option{always}},
			[]string{"allow_once", "deny", "deny_stop", "explain"},
		},
		"the agent's options keep their ids": {
			protocol.Approval{
				Kind: protocol.ApproveTool, Name: "rm", Input: json.RawMessage(`{"x":1}`),
				Options: []protocol.Option{always},
			},
			[]string{"a", "allow_once", "deny", "deny_stop", "explain"},
		},
		"no two options have one id": {
			protocol.Approval{Kind: protocol.ApproveQuestion, Options: []protocol.Option{
				{ID: "deny", Kind: protocol.AllowOnce}, {ID: "deny", Kind: protocol.AllowOnce},
			}},
			[]string{"deny", "session_deny", "deny_stop", "explain"},
		},
		"an unknown decision is not shown": {
			protocol.Approval{Kind: protocol.ApproveQuestion, Options: []protocol.Option{{ID: "x", Kind: "maybe"}}},
			[]string{"allow_once", "deny", "deny_stop", "explain"},
		},
	} {
		r := newRig(t)
		c.ask.Request = "q"
		w := r.ask(c.ask)
		a := r.st.PendingApproval("q")
		var ids []string
		for _, o := range a.Options {
			ids = append(ids, o.ID)
			if o.Kind == protocol.AllowAlways && o.Scope == "" {
				t.Errorf("%s: %s has no scope", name, o.ID)
			}
		}
		if !slices.Equal(ids, c.want) {
			t.Errorf("%s: options %q, want %q", name, ids, c.want)
		}
		if _, err := r.answer(protocol.ApproveData{Request: "q", Option: ids[0]}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if v, _ := verdict(w); v.Option != "" && v.Option != c.ask.Options[0].ID {
			t.Errorf("%s: the agent does not know its option %q", name, v.Option)
		}
	}
}
