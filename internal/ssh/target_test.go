package ssh

import "testing"

func TestParse(t *testing.T) {
	for raw, want := range map[string]Target{
		"ssh://box":                {Host: "box"},
		"ssh://box/":               {Host: "box"},
		"ssh://ada@box":            {User: "ada", Host: "box"},
		"ssh://ada@box.example:22": {User: "ada", Host: "box.example", Port: 22},
		"ssh://ada@[::1]:2222":     {User: "ada", Host: "::1", Port: 2222},
	} {
		got, err := Parse(raw)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", raw, got, err)
		}
		if again, err := Parse(Scheme + got.String()); err != nil || again != want {
			t.Errorf("%s: %q is %+v, %v", raw, got, again, err)
		}
	}
}

// No part of a URL becomes an option of ssh or a command of a shell.
func TestParseRefuses(t *testing.T) {
	for _, raw := range []string{
		"", "box", "ssh:box", "ssh://", "ssh:///path", "ws://box", "ssh://box/path", "ssh://box?x=1", "ssh://box#x",
		"ssh://ada:secret@box", "ssh://-oProxyCommand=touch", "ssh://-l@box", "ssh://box:0", "ssh://box:70000",
		"ssh://a b", "ssh://$(id)", "ssh://`id`", "ssh://a;id@box", "ssh://a%0aid@box", "ssh://box%20id",
		"ssh://::2", "ssh://::1", "ssh://a:b:22", "ssh://[a:b]", "ssh://box%25eth0",
	} {
		if got, err := Parse(raw); err == nil {
			t.Errorf("%q is %+v", raw, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("ssh://ada@box:22")
	f.Add("ssh://-o@box")
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := Parse(raw)
		if err != nil {
			return
		}
		if got.Host == "" || got.Host[0] == '-' || got.User != "" && got.User[0] == '-' {
			t.Errorf("%q is %+v", raw, got)
		}
		if again, err := Parse(Scheme + got.String()); err != nil || again != got {
			t.Errorf("%q: %q is %+v, %v", raw, got, again, err)
		}
	})
}
