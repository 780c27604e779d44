package main

import (
	"reflect"

	"agentctl/protocol"
)

// positionPattern is that of a position as text.
const positionPattern = "^([0-9a-z]{1,64}:)?[0-9]+$"

// document returns the schema of every line on the wire: a command of a client, or an answer or
// event of a server. $defs holds single ones as event.TYPE, command.VERB and result.VERB.
func document(w *comments) *schema {
	d := &deriver{comments: w, defs: map[string]*schema{}, refs: "#/$defs/"}
	d.of(reflect.TypeFor[protocol.Position]())
	d.defs["Position"].Pattern = positionPattern

	d.events()
	d.commands()
	d.defs["answer"] = d.inline(reflect.TypeFor[protocol.Answer]())
	d.defs["answer"].AnyOf = []*schema{{Required: []string{"result"}}, {Required: []string{"error"}}}
	return &schema{
		Schema:      "https://json-schema.org/draft/2020-12/schema",
		ID:          "urn:" + protocol.Subprotocol,
		Title:       protocol.Subprotocol,
		Description: "One line of the native protocol of agentctl.",
		OneOf:       []*schema{d.ref("command"), d.ref("answer"), d.ref("event")},
		Defs:        d.defs,
	}
}

// events defines event.TYPE for each type, the envelope with that type and its data, and event as
// one of them.
func (d *deriver) events() {
	d.defs["envelope"] = d.inline(reflect.TypeFor[protocol.Event]())
	one := &schema{Description: "An event of any type."}
	for _, et := range protocol.EventTypes {
		def := &schema{
			AllOf: []*schema{d.ref("envelope")},
			Properties: map[string]*schema{
				"type": {Const: string(et.Type)},
				"data": d.of(reflect.TypeOf(et.New())),
			},
		}
		if et.Ephemeral {
			def.Description = "Ephemeral: it has no seq."
		} else {
			def.Required = []string{"seq"}
		}
		d.defs["event."+string(et.Type)] = def
		one.OneOf = append(one.OneOf, d.ref("event."+string(et.Type)))
	}
	d.defs["event"] = one
}

// commands defines command.VERB and result.VERB for each verb, and command as one of them.
func (d *deriver) commands() {
	d.defs["request"] = d.inline(reflect.TypeFor[protocol.Command]())
	one := &schema{Description: "A command of any kind."}
	for _, ct := range protocol.Commands {
		def := &schema{
			AllOf: []*schema{d.ref("request")},
			Properties: map[string]*schema{
				"command": {Const: string(ct.Verb)},
				"data":    d.of(reflect.TypeOf(ct.Data())),
			},
		}
		if ct.Session {
			def.Required = []string{"session"}
		}
		d.defs["command."+string(ct.Verb)] = def
		d.defs["result."+string(ct.Verb)] = d.of(reflect.TypeOf(ct.Result()))
		one.OneOf = append(one.OneOf, d.ref("command."+string(ct.Verb)))
	}
	d.defs["command"] = one
}

// inline returns the schema of a struct itself instead of a reference.
func (d *deriver) inline(t reflect.Type) *schema {
	s := d.plain(t)
	s.Description = d.comments.types[t.Name()]
	return s
}

// ref returns a reference to a definition.
func (d *deriver) ref(name string) *schema { return &schema{Ref: d.refs + name} }
