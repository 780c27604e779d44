package split

import (
	"encoding/json"
	"errors"
)

// errInvalid is the error of stored data that is no layout.
var errInvalid = errors.New("invalid layout of sessions")

// storedLayout and storedNode are the stored form of a layout.
type (
	storedLayout struct {
		Focus  string      `json:"focus"`
		Zoomed bool        `json:"zoomed,omitempty"`
		Root   *storedNode `json:"root,omitempty"`
	}
	storedNode struct {
		Session string      `json:"session,omitempty"`
		Below   bool        `json:"below,omitempty"`
		Share   float64     `json:"share,omitempty"`
		First   *storedNode `json:"first,omitempty"`
		Second  *storedNode `json:"second,omitempty"`
	}
)

// MarshalJSON returns the stored form.
func (l Layout) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedLayout{l.focus, l.zoomed, l.root.stored()})
}

// UnmarshalJSON reads the stored form. It returns an error for data that is no layout.
func (l *Layout) UnmarshalJSON(data []byte) error {
	var s storedLayout
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	root, err := s.Root.node()
	if err != nil {
		return err
	}
	read := Layout{root, s.Focus, s.Zoomed}
	seen := map[string]bool{}
	for _, session := range read.Sessions() {
		if session == "" || seen[session] {
			return errInvalid
		}
		seen[session] = true
	}
	if len(seen) > MaxPanes || len(seen) > 0 && !seen[s.Focus] || len(seen) < 2 && s.Zoomed {
		return errInvalid
	}
	*l = read
	return nil
}

func (n *node) stored() *storedNode {
	if n == nil {
		return nil
	}
	return &storedNode{n.session, n.below, n.share, n.first.stored(), n.second.stored()}
}

func (s *storedNode) node() (*node, error) {
	switch {
	case s == nil:
		return nil, nil
	case s.First == nil && s.Second == nil:
		return &node{session: s.Session}, nil
	case s.First == nil || s.Second == nil || s.Share <= 0 || s.Share >= 1:
		return nil, errInvalid
	}
	first, err := s.First.node()
	if err != nil {
		return nil, err
	}
	second, err := s.Second.node()
	return &node{below: s.Below, share: s.Share, first: first, second: second}, err
}
