package keymap

import (
	"slices"
	"strings"
	"testing"
)

func TestKeysCheck(t *testing.T) {
	for _, c := range []struct {
		keys Keys
		want string
	}{
		{Keys{"fly": {"f9"}}, `unknown action "fly"`},
		{Keys{"interrupt": {"x"}}, "is needed for writing"},
		{Keys{"interrupt": {"space"}}, "is needed for writing"},
		{Keys{"composer.send": {"1"}}, "is needed for writing"},
		{Keys{"interrupt": {"ctrl x"}}, "is not a key"},
		{Keys{"interrupt": {""}}, "is not a key"},
		{Keys{"interrupt": {"ctrl+c"}}, "cannot be rebound"},
		{Keys{"interrupt": {"f9"}, "help": {"f9"}}, "both"},
	} {
		if err := c.keys.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.keys, err, c.want)
		}
	}
	if err := (Keys{"interrupt": {"f2"}, "queue.edit": {"x"}, "composer.later": nil}).Check(); err != nil {
		t.Error(err)
	}
}

func TestKeysOfPanesAreFreeWhereTextIsWritten(t *testing.T) {
	m, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range Definitions() {
		if d.Scope == Panes || !slices.Contains(writing, d.Scope) {
			continue
		}
		for _, key := range d.Keys {
			if other := m.At(Panes, key); other != "" {
				t.Errorf("%q is %s and %s", key, d.Action, other)
			}
		}
	}
}

func TestDefaultKeysAreUnique(t *testing.T) {
	bound := map[Scope]map[string]Action{}
	defined := map[Action]bool{}
	for _, d := range Definitions() {
		if defined[d.Action] {
			t.Errorf("%s is defined twice", d.Action)
		}
		defined[d.Action] = true
		if bound[d.Scope] == nil {
			bound[d.Scope] = map[string]Action{}
		}
		for _, key := range d.Keys {
			if other := bound[d.Scope][key]; other != "" {
				t.Errorf("%s: %q is bound to both %s and %s", d.Scope, key, other, d.Action)
			}
			bound[d.Scope][key] = d.Action
			if err := checkKey(d.Scope, key); err != nil {
				t.Errorf("%s: %v", d.Action, err)
			}
		}
	}
}
