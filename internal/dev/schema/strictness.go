package main

import (
	"maps"
	"slices"
)

// walk calls f with a schema and all schemas in it, each once.
func (s *schema) walk(f func(*schema)) { s.visit(f, map[*schema]bool{}) }

func (s *schema) visit(f func(*schema), seen map[*schema]bool) {
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	f(s)
	below := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, []*schema{s.Items, s.Additional})
	for _, m := range []map[string]*schema{s.Properties, s.Defs} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			below = append(below, m[name])
		}
	}
	for _, sub := range below {
		sub.visit(f, seen)
	}
}

// strict returns the schema for senders: what this version sends, and no more. Objects have no
// unknown fields.
func strict(w *comments) *schema {
	s := document(w)
	none := false
	s.walk(func(s *schema) {
		if s.Properties != nil && s.AllOf == nil { // those of AllOf are all in its parts
			s.Unevaluated = &none
		}
	})
	return s
}
