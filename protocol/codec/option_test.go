package codec

import (
	"testing"

	"agentctl/protocol"
)

func TestADialectsOptionIsWhatItsListSays(t *testing.T) {
	d := &Dialect{Name: "d", Options: []Option{
		{Name: "form", Ends: []End{ClientEnd, ServerEnd}, Values: []string{"a", "b"}},
		{Name: "quiet", Ends: []End{ClientEnd}, Kind: OptionDuration},
		{Name: "domain", Ends: []End{ClientEnd}, Kind: OptionText},
	}}
	for _, c := range []struct {
		end         End
		name, value string
		wrong       string
	}{
		{ClientEnd, "form", "b", ""},
		{ServerEnd, "form", "a", ""},
		{ClientEnd, "form", "c", `the option form is a|b, not "c"`},
		{ClientEnd, "form", "", `the option form is a|b, not ""`},
		{ClientEnd, "quiet", "1m30s", ""},
		{ClientEnd, "quiet", "0", ""},
		{ClientEnd, "quiet", "-5s", `the option quiet is a duration, as 30s, not "-5s"`},
		{ClientEnd, "quiet", "soon", `the option quiet is a duration, as 30s, not "soon"`},
		{ClientEnd, "domain", "any text", ""},
		{ClientEnd, "domain", "", `the option domain is text, not ""`},
		{ServerEnd, "quiet", "5s", `the dialect d has no option "quiet" at the server: there are form (a|b)`},
		{ClientEnd, "loud", "5s", `the dialect d has no option "loud" at the client: there are form (a|b), quiet (a duration, as 30s), domain (text)`},
	} {
		err := d.CheckOption(c.end, c.name, c.value)
		if (err == nil) != (c.wrong == "") || err != nil && protocol.AsError(err).Message != c.wrong {
			t.Errorf("%s=%s at the %s: %v, want %q", c.name, c.value, c.end, err, c.wrong)
		}
	}
	if err := (&Dialect{Name: "bare"}).CheckOption(ClientEnd, "x", "y"); protocol.AsError(err).Message != "the dialect bare has no options at the client" {
		t.Error(err)
	}
}
