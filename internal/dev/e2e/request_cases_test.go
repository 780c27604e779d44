package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/requestcases"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/transcript"
)

// requestScript returns the requests that a script can make, and a script that makes one after the other.
func requestScript(t *testing.T, dir string) (cases []requestcases.Case, script []string) {
	t.Helper()
	if err := requestcases.Prepare(dir); err != nil {
		t.Fatal(err)
	}
	cases = slices.DeleteFunc(requestcases.All(dir), func(c requestcases.Case) bool {
		args := protocol.ReadArguments([]byte(c.Input)) // a script has each name once, and is not deep
		return strings.Contains(args.Opaque(), "twice") || strings.Contains(args.Opaque(), "deep")
	})
	script = []string{`{"on":"*"}`}
	for i := range cases {
		a := cases[i].Approval(dir)
		if input, ok := protocol.Compact(a.Input); ok { // the script is UTF-8
			a.Input = input
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(protocol.MustEncode(a), &fields); err != nil {
			t.Fatal(err)
		}
		fields["ask"] = fields["kind"]
		for _, name := range []string{"kind", "asked", "options"} {
			delete(fields, name)
		}
		script = append(script, string(protocol.MustEncode(fields)))
	}
	return cases, script
}

// In every dialect a client shows all that a request runs.
func TestARequestIsShownWithAllThatRunsInEveryDialect(t *testing.T) {
	dir := t.TempDir()
	cases, script := requestScript(t, dir)
	forEachDialect(t, func(t *testing.T, name string) {
		w := newTestServer(t, script...)
		ann := w.client("ann")
		id := do[protocol.CreateResult](t, ann, protocol.DoCreate, "", protocol.CreateData{CWD: dir}).Session
		c := w.dialectClient(name, id)
		s := follow(t, name, c, id)
		w.send(c, id, "go")
		for i := range cases {
			s.waitFor(protocol.ApprovalRequested)
			a := s.state.Approvals[0]
			var shown strings.Builder
			for _, p := range approval.Sections(&a, false) {
				shown.WriteString(p.Text + "\n")
			}
			for _, content := range a.Content {
				shown.WriteString(content.Path + "\n")
			}
			want := cases[i]
			want.Shows = slices.DeleteFunc(slices.Clone(want.Shows), func(text string) bool {
				return text == want.CWD // some dialects show the directory as the arguments tell it
			})
			if missing := want.Missing(transcript.Reveal(shown.String())); missing != nil {
				t.Errorf("%s: lacks %q:\n%s", want.Name, missing, shown.String())
			}
			do[protocol.ApproveResult](t, c, protocol.DoApprove, id, protocol.ApproveData{
				Request: a.Request, Decision: protocol.Deny,
			})
		}
	})
}
