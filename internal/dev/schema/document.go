package main

import (
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"agentctl/protocol"
)

// document returns the schema of every line on the wire: a command of a client, or an answer or
// event of a server. $defs holds single ones as event.TYPE, command.VERB and result.VERB.
// It is strict: it accepts what this version sends, and no more.
func document() (*jsonschema.Schema, error) {
	d := newDefinitions("#/$defs/", false)
	d.events()
	d.commands()
	d.defs["answer"] = d.object(reflect.TypeFor[protocol.Answer]())
	d.defs["answer"].AnyOf = []*jsonschema.Schema{{Required: []string{"result"}}, {Required: []string{"error"}}}
	return &jsonschema.Schema{
		Schema:      "https://json-schema.org/draft/2020-12/schema",
		ID:          "urn:" + protocol.Subprotocol,
		Title:       protocol.Subprotocol,
		Description: "One line of the native protocol of agentctl.",
		OneOf:       []*jsonschema.Schema{d.ref("command"), d.ref("answer"), d.ref("event")},
		Defs:        d.defs,
	}, d.err
}

// events defines event.TYPE for each type, the envelope with that type and its data, and event as
// one of them.
func (d *definitions) events() {
	d.defs["envelope"] = d.object(reflect.TypeFor[protocol.Event]())
	one := &jsonschema.Schema{Description: "An event of any type."}
	for _, et := range protocol.EventTypes {
		def := &jsonschema.Schema{
			AllOf: []*jsonschema.Schema{d.ref("envelope")},
			Properties: map[string]*jsonschema.Schema{
				"type": {Const: jsonschema.Ptr[any](et.Type)},
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
func (d *definitions) commands() {
	d.defs["request"] = d.object(reflect.TypeFor[protocol.Command]())
	one := &jsonschema.Schema{Description: "A command of any kind."}
	for _, ct := range protocol.Commands {
		def := &jsonschema.Schema{
			AllOf: []*jsonschema.Schema{d.ref("request")},
			Properties: map[string]*jsonschema.Schema{
				"command": {Const: jsonschema.Ptr[any](ct.Verb)},
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
