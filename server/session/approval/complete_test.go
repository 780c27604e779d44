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

func TestARequestIsCompletedWithWhatTheAgentLeftOut(t *testing.T) {
	r := newRig(t)
	r.ask(command("a", "make"))
	a := r.st.PendingApproval("a")
	i := slices.IndexFunc(a.Options, func(o protocol.Option) bool { return o.Kind == protocol.AllowAlways })
	if i < 0 || a.Options[i].Label != "Always allow" ||
		a.Options[i].Scope != "exactly this command in /src, in this session" {
		t.Errorf("options %+v", a.Options)
	}
	for cwd, want := range map[string]string{"": "/src", "/elsewhere": "/elsewhere"} {
		ask := command("b"+cwd, "make")
		ask.CWD = cwd
		r.ask(ask)
		if a := r.st.PendingApproval(ask.Request); a.CWD != want {
			t.Errorf("working directory %s, want %s", a.CWD, want)
		}
	}
	ask := question("c")
	ask.Explained = []string{"no"}
	ask.Options = []protocol.Option{
		{ID: "yes", Kind: protocol.AllowOnce, Label: "Yes"},
		{ID: "deny", Kind: protocol.AllowOnce, Label: "Not a denial"},
		{ID: "bad", Kind: "of tomorrow"},
		{ID: "ever", Kind: protocol.AllowAlways},
	}
	w := r.ask(ask)
	a = r.st.PendingApproval("c")
	var ids []string
	for _, o := range a.Options {
		ids = append(ids, o.ID+" "+string(o.Kind))
	}
	if want := []string{
		"yes allow_once", "deny allow_once", "session_deny deny", "deny_stop deny_stop", "explain explain",
	}; !slices.Equal(ids, want) || len(a.Explained) != 0 {
		t.Errorf("options %q, want %q; explained %q", ids, want, a.Explained)
	}
	r.ask(question("d"))
	a = r.st.PendingApproval("d")
	if a.Options[0].Label != "Answer" || a.Options[0].Kind != protocol.AllowOnce || a.Options[1].Label != "Skip" ||
		a.Options[1].Kind != protocol.Deny {
		t.Errorf("options of a question: %+v", a.Options)
	}
	got, err := r.answer(protocol.ApproveData{Request: "c", Option: "session_deny"})
	if err != nil || got.Resolution.Outcome != protocol.Denied {
		t.Errorf("%+v, %v", got, err)
	}
	if v, _ := verdict(w); v.Option != "" || v.By == nil || *v.By != bert {
		t.Errorf("verdict %+v", v)
	}
}
