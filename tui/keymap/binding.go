package keymap

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
	out := make([]Binding, len(Definitions))
	for i, d := range Definitions {
		out[i] = Binding{string(d.Scope), string(d.Action), m.byAction[d.Action], d.About}
	}
	return out, nil
}
