package keymap

import (
	"strings"
	"testing"
)

func TestKeysThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		keys Keys
		want string
	}{
		{Keys{"fly": {"f9"}}, `unknown action "fly"`},
		{Keys{"interrupt": {"x"}}, "is needed for writing"},
		{Keys{"interrupt": {"space"}}, "is needed for writing"},
		{Keys{"interrupt": {"ctrl x"}}, "is not a key"},
		{Keys{"interrupt": {""}}, "is not a key"},
		{Keys{"interrupt": {"ctrl+c"}}, "cannot be rebound"},
		{Keys{"interrupt": {"f9"}, "help": {"f9"}}, "both"},
	} {
		if err := c.keys.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.keys, err)
		}
	}
	if err := (Keys{"interrupt": {"f2"}, "queue.edit": {"x"}, "composer.help": nil}).Check(); err != nil {
		t.Error(err)
	}
}

func TestNoTwoActionsOfAPlaceShareAKey(t *testing.T) {
	have := map[Scope]map[string]Action{}
	names := map[Action]bool{}
	for _, b := range Definitions {
		if names[b.Action] {
			t.Errorf("%s is there twice", b.Action)
		}
		names[b.Action] = true
		if have[b.Scope] == nil {
			have[b.Scope] = map[string]Action{}
		}
		for _, key := range b.Keys {
			if other := have[b.Scope][key]; other != "" {
				t.Errorf("%s: %q is for %s and %s", b.Scope, key, other, b.Action)
			}
			have[b.Scope][key] = b.Action
			if err := checkKey(b.Scope, key); err != nil {
				t.Errorf("%s: %v", b.Action, err)
			}
		}
	}
}
