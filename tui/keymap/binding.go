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
	for i, b := range Definitions {
		out[i] = Binding{string(b.Scope), string(b.Action), m.byAction[b.Action], b.About}
	}
	return out, nil
}
