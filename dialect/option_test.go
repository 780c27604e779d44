package dialect

import (
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

func TestADialectsOptionIsWhatItsListSays(t *testing.T) {
	d := &codec.Dialect{Name: "d", Options: []codec.Option{
		{Name: "form", Ends: []codec.End{codec.ClientEnd, codec.ServerEnd}, Values: []string{"a", "b"}},
		{Name: "quiet", Ends: []codec.End{codec.ClientEnd}, Kind: codec.OptionDuration},
		{Name: "domain", Ends: []codec.End{codec.ClientEnd}, Kind: codec.OptionText},
	}}
	for _, c := range []struct {
		end         codec.End
		name, value string
		wrong       string
	}{
		{codec.ClientEnd, "form", "b", ""},
		{codec.ServerEnd, "form", "a", ""},
		{codec.ClientEnd, "form", "c", `invalid value "c" for option form: want a|b`},
		{codec.ClientEnd, "form", "", `invalid value "" for option form: want a|b`},
		{codec.ClientEnd, "quiet", "1m30s", ""},
		{codec.ClientEnd, "quiet", "0", ""},
		{codec.ClientEnd, "quiet", "-5s", `invalid value "-5s" for option quiet: want a duration such as 30s`},
		{codec.ClientEnd, "quiet", "soon", `invalid value "soon" for option quiet: want a duration such as 30s`},
		{codec.ClientEnd, "domain", "any text", ""},
		{codec.ClientEnd, "domain", "", `invalid value "" for option domain: want text`},
		{codec.ServerEnd, "quiet", "5s", `the dialect d has no server option "quiet": want one of form (a|b)`},
		{codec.ClientEnd, "loud", "5s", `the dialect d has no client option "loud": want one of form (a|b), quiet (a duration such as 30s), domain (text)`},
	} {
		err := CheckOption(d, c.end, c.name, c.value)
		if (err == nil) != (c.wrong == "") || err != nil && protocol.AsError(err).Message != c.wrong {
			t.Errorf("%s=%s at the %s: %v, want %q", c.name, c.value, c.end, err, c.wrong)
		}
	}
	if err := CheckOption(&codec.Dialect{Name: "bare"}, codec.ClientEnd, "x",
		"y"); protocol.AsError(err).Message != "the dialect bare has no client options" {
		t.Error(err)
	}
}
