package main

import (
	"maps"
	"slices"

	"agentctl/protocol"
)

// walk calls f with a schema and all schemas in it, each once.
func (s *schema) walk(f func(*schema)) { s.visit(f, map[*schema]bool{}) }

func (s *schema) visit(f func(*schema), seen map[*schema]bool) {
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	f(s)
	below := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, []*schema{s.Items, s.Additional, s.Not})
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

// tolerant returns the schema for receivers: what a later version may send. It allows unknown
// fields, types of events, verbs and values of enumerations.
func tolerant(w *comments) *schema {
	s := document(w)
	s.ID += ".tolerant"
	s.Description += " Later versions may send more; receivers accept what this schema accepts."
	s.walk(func(s *schema) { s.Enum = nil })
	var types, verbs []string
	for _, t := range protocol.EventTypes {
		types = append(types, string(t.Type))
	}
	for _, t := range protocol.Commands {
		verbs = append(verbs, string(t.Verb))
	}
	s.addUnknown("event", "envelope", "type", types)
	s.addUnknown("command", "request", "command", verbs)
	s.AnyOf, s.OneOf = s.OneOf, nil // a line with fields of two kinds is each of them
	return s
}

// addUnknown adds to a definition of alternatives the one of an unknown name: only its envelope is
// known.
func (s *schema) addUnknown(name, envelope, field string, known []string) {
	def := s.Defs[name]
	s.Defs[name+".unknown"] = &schema{
		Description: "Of a later version: ignore it, and keep its position.",
		AllOf:       []*schema{{Ref: "#/$defs/" + envelope}},
		Properties:  map[string]*schema{field: {Not: &schema{Enum: known}}},
	}
	def.OneOf = append(def.OneOf, &schema{Ref: "#/$defs/" + name + ".unknown"})
}
