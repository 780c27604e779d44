package keymap

// Binding is an action and its keys, for people who choose others.
type Binding struct {
	Place  string   `json:"place"` // the part of the screen
	Action string   `json:"action"`
	Keys   []string `json:"keys"`
	About  string   `json:"about"`
}

// Bindings lists every action with the keys it has under these, in the order of
// the help screen. Its error is that of Check.
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
