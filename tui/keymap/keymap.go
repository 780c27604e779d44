package keymap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"agentctl/internal/retired"
)

// reserved are keys that cannot be rebound, so that quitting and writing always work.
var reserved = []string{"ctrl+c", "ctrl+j", "alt+enter", "shift+enter"}

// writing are the scopes that are active while a text field has the focus.
var writing = []Scope{Global, Composer, Tour}

// Keys overrides the keys of actions by name, such as "interrupt": {"ctrl+b"}. An empty list leaves
// an action without keys.
type Keys map[string][]string

// Check returns an error for an action that no version knew, for a key that cannot be bound, and for a key given
// to two actions of one scope.
func (k Keys) Check() error {
	_, err := New(k)
	return err
}

// Retired returns the actions among the names that only earlier versions knew, sorted. Their keys
// are ignored.
func (k Keys) Retired() []retired.Name {
	var out []retired.Name
	for _, name := range slices.Sorted(maps.Keys(k)) {
		if n, ok := retired.Action.Find(name); ok {
			out = append(out, n)
		}
	}
	return out
}

// Map maps the keys of each scope to actions. Its bindings are immutable.
type Map struct {
	rows      []Definition
	byKey     map[Scope]map[string]Action
	byAction  map[Action][]string
	clickable bool // see [Map.Mark]
}

// New returns the default map with the given keys in place of the defaults. It returns the errors of
// [Keys.Check].
func New(custom Keys) (*Map, error) {
	for name := range custom {
		_, isRetired := retired.Action.Find(name)
		if !isRetired && DefinitionOf(Action(name)).Action == "" {
			return nil, fmt.Errorf("keys: unknown action %q", name)
		}
	}
	return newMap(Definitions(), custom)
}

// Only returns the default map of the actions that keep accepts, such as those that a test shows.
func Only(keep func(Definition) bool) *Map {
	rows := slices.DeleteFunc(slices.Clone(Definitions()), func(d Definition) bool { return !keep(d) })
	m, _ := newMap(rows, nil) // default keys are valid
	return m
}

// newMap binds the keys of definitions.
func newMap(rows []Definition, custom Keys) (*Map, error) {
	m := &Map{rows: rows, byKey: map[Scope]map[string]Action{}, byAction: make(map[Action][]string, len(rows))}
	// Bind the user's keys first: they take precedence over default keys of the same scope.
	for _, bindCustom := range []bool{true, false} {
		for _, d := range rows {
			keys, isCustom := custom[string(d.Action)]
			if isCustom != bindCustom {
				continue
			}
			if !isCustom {
				keys = d.Keys
			}
			if err := m.bind(d, keys, isCustom); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// bind binds keys to an action. A default key that is already bound is left out. A custom key bound
// to another action is an error.
func (m *Map) bind(d Definition, keys []string, custom bool) error {
	actions := m.byKey[d.Scope]
	if actions == nil {
		actions = map[string]Action{}
		m.byKey[d.Scope] = actions
	}
	for _, key := range keys {
		if custom {
			if err := checkKey(d.Scope, key); err != nil {
				return fmt.Errorf("keys: %s: %w", d.Action, err)
			}
		}
		switch other, bound := actions[key]; {
		case !bound:
			actions[key] = d.Action
			m.byAction[d.Action] = append(m.byAction[d.Action], key)
		case custom && other != d.Action:
			return fmt.Errorf("keys: %q is bound to both %s and %s", key, other, d.Action)
		}
	}
	return nil
}

// checkKey returns an error for a key that would prevent writing or quitting.
func checkKey(scope Scope, key string) error {
	switch {
	case key == "" || strings.ContainsAny(key, " \t\n"):
		return fmt.Errorf("%q is not a key; one is written as ctrl+x, alt+up, f5, space or e", key)
	case slices.Contains(reserved, key):
		return fmt.Errorf("%q cannot be rebound", key)
	case slices.Contains(writing, scope) && (utf8.RuneCountInString(key) == 1 || key == "space"):
		return fmt.Errorf("%q is needed for writing: use a key with ctrl or alt, or a function key", key)
	}
	return nil
}

// At returns the action of a key in a scope, or "". Lists page with the keys of [PageUp] and [PageDown].
func (m *Map) At(scope Scope, key string) Action {
	if a := m.byKey[scope][key]; a != "" || scope != Lists {
		return a
	}
	if a := m.byKey[Global][key]; a == PageUp || a == PageDown {
		return a
	}
	return ""
}

// InList returns the action of a key in a scope or else in Lists, or "". A review has the keys of a pager too.
func (m *Map) InList(scope Scope, key string) Action {
	if a := m.byKey[Pager][key]; a != "" && scope == Review {
		return a
	}
	return cmp.Or(m.byKey[scope][key], m.At(Lists, key))
}

// InField returns the action of a key in Lists while a text field takes the keys that write, or "".
// The default keys always act: the user's keys may be letters.
func (m *Map) InField(key string) Action {
	if a := m.At(Lists, key); a != "" {
		return a
	}
	for _, r := range lists {
		if slices.Contains(r.Keys, key) {
			return r.Action
		}
	}
	return ""
}

// Keys returns the keys of an action in display form.
func (m *Map) Keys(a Action) []string {
	out := make([]string, len(m.byAction[a]))
	for i, key := range m.byAction[a] {
		out[i] = keyName(key)
	}
	return out
}

// Key returns the first key of an action in display form, or "". The key of
// [PanePrefix] comes before the key of an action of [Panes].
func (m *Map) Key(a Action) string {
	keys := m.byAction[a]
	switch {
	case len(keys) == 0:
		return ""
	case a.OnPanes() && m.Key(PanePrefix) == "":
		return ""
	case a.OnPanes():
		return m.Key(PanePrefix) + " " + keyName(keys[0])
	}
	return keyName(keys[0])
}

// After returns a line as [Map.Hint] does, of the keys after a prefix.
func (m *Map) After(pairs ...any) string {
	return hint(pairs, func(a Action) string {
		if keys := m.byAction[a]; len(keys) > 0 {
			return keyName(keys[0])
		}
		return ""
	}, func(a Action, text string) string { return m.mark(m.byAction[a][0], text) })
}

// Hint returns a line of keys and labels. pairs alternates an Action and its label, a string.
// Actions without keys are left out.
func (m *Map) Hint(pairs ...any) string { return hint(pairs, m.Key, m.Mark) }

func hint(pairs []any, keyOf func(Action) string, mark func(Action, string) string) string {
	var out []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if key := keyOf(pairs[i].(Action)); key != "" {
			out = append(out, mark(pairs[i].(Action), key+" "+pairs[i+1].(string)))
		}
	}
	return strings.Join(out, Separator)
}

// Separator separates the entries of a hint.
const Separator = " · "

// keyName returns a key in display form.
func keyName(key string) string {
	if arrow := map[string]string{"up": "↑", "down": "↓", "left": "←", "right": "→"}[key]; arrow != "" {
		return arrow
	}
	if len(key) > 1 && key[0] == 'f' && key[1] >= '0' && key[1] <= '9' {
		return strings.ToUpper(key)
	}
	return key
}

// Binding is an action with its keys, as a user configures them.
type Binding struct {
	Place  string   `json:"place"` // the scope
	Action string   `json:"action"`
	Keys   []string `json:"keys"`
	About  string   `json:"about"`
}

// Bindings returns all actions with their keys, in the order of the help screen. Its errors are
// those of [Keys.Check].
func (k Keys) Bindings() ([]Binding, error) {
	m, err := New(k)
	if err != nil {
		return nil, err
	}
	out := make([]Binding, len(Definitions()))
	for i, d := range Definitions() {
		out[i] = Binding{string(d.Scope), string(d.Action), m.byAction[d.Action], d.About}
	}
	return out, nil
}
