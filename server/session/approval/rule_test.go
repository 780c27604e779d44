package approval

import (
	"os"
	"strings"
	"testing"

	"agentctl/internal/dev/requestcases"
	"agentctl/protocol"
)

// A rule that an earlier version stored matches the same requests: its subject is the text that
// version gave them, which no reading of commands changes. testdata/subjects.txt has these texts.
func TestStoredRulesKeepTheirMeaning(t *testing.T) {
	b, err := os.ReadFile("testdata/subjects.txt")
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]string{}
	for line := range strings.Lines(string(b)) {
		name, subject, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		stored[name] = subject
	}
	cases := requestcases.All("/src")
	for i, c := range cases {
		a := c.Approval("/src")
		subject := stored[c.Name]
		if a.Subject() != subject {
			t.Errorf("%s: subject %s, an earlier version stored %s", c.Name, a.Subject(), subject)
			continue
		}
		st := &protocol.State{Rules: []protocol.Rule{{ID: "r", Kind: a.Kind, Subject: subject}}}
		for j, other := range cases {
			o := other.Approval("/src")
			o.Options = []protocol.Option{{ID: "always", Kind: protocol.AllowAlways}}
			matches := st.RuleFor(&o) != nil
			if want := subject != "" && c.Kind == other.Kind && subject == stored[other.Name]; matches != want {
				t.Errorf("a rule for %s matches %s: %t (%d, %d)", c.Name, other.Name, matches, i, j)
			}
		}
	}
}
