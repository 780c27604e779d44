package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

func TestWhateverTheTypesWriteTheSchemaAccepts(t *testing.T) {
	schemas := compile(t)
	g := &generator{comments{}}
	rapid.Check(t, func(t *rapid.T) {
		et := rapid.SampledFrom(protocol.EventTypes).Draw(t, "event type")
		e := protocol.Event{Session: "s", Time: g.time(t), Type: et.Type, Data: g.data(t, et.New())}
		if !et.Ephemeral {
			e.Seq = rapid.Uint64Range(1, 1<<53).Draw(t, "seq")
		}
		accepted(t, schemas, "event", e.AppendJSON(nil))

		ct := rapid.SampledFrom(protocol.Commands).Draw(t, "command type")
		c := protocol.Command{ID: "1", Command: ct.Verb, Session: "s", Data: g.data(t, ct.Data())}
		accepted(t, schemas, "command", protocol.MustEncode(c))
		accepted(t, schemas, "result."+string(ct.Verb), g.data(t, ct.Result()))
	})
}

func accepted(t *rapid.T, schemas *compiled, def string, line []byte) {
	if err := schemas.check(def, line); err != nil {
		t.Fatalf("%s refuses %s: %v", def, line, err)
	}
}

// generator draws values of the protocol's types. Lists and maps may be empty but not nil, since
// null is never sent.
type generator struct{ comments comments }

func (g *generator) data(t *rapid.T, v any) json.RawMessage {
	g.fill(t, reflect.ValueOf(v).Elem(), 0)
	return protocol.MustEncode(v)
}

func (g *generator) time(t *rapid.T) time.Time {
	return time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "time")).UTC()
}

func (g *generator) fill(t *rapid.T, v reflect.Value, depth int) {
	typ := v.Type()
	constants, err := g.comments.values(typ)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case typ == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(g.time(t)))
	case typ == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(rapid.SampledFrom([]string{`{"a":1}`, `[]`, `"x"`, `7`}).Draw(t, "raw")))
	case typ == reflect.TypeFor[protocol.Position]():
		epoch := rapid.SampledFrom([]string{"", "9f3ac1"}).Draw(t, "epoch")
		v.Set(reflect.ValueOf(protocol.Position{Epoch: epoch, Seq: rapid.Uint64().Draw(t, "seq")}))
	case len(constants) > 0:
		v.SetString(rapid.SampledFrom(constants).Draw(t, typ.Name()))
	default:
		g.fillKind(t, v, depth)
	}
}

func (g *generator) fillKind(t *rapid.T, v reflect.Value, depth int) {
	many := 0
	if depth < 4 {
		many = rapid.IntRange(0, 2).Draw(t, "many")
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "string"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Float64:
		v.SetFloat(rapid.Float64Range(-1e6, 1e6).Draw(t, "float"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int"))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "uint"))
	case reflect.Pointer:
		// A snapshot's state has no omitempty.
		if many > 0 || v.Type().Elem() == reflect.TypeFor[protocol.State]() {
			v.Set(reflect.New(v.Type().Elem()))
			g.fill(t, v.Elem(), depth+1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), many, many))
		for i := range many {
			g.fill(t, v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := range many {
			elem := reflect.New(v.Type().Elem()).Elem()
			g.fill(t, elem, depth+1)
			v.SetMapIndex(reflect.ValueOf(fmt.Sprint("key", i)), elem)
		}
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(v.Type()) {
			if !f.Anonymous && f.IsExported() && !strings.HasPrefix(f.Tag.Get("json"), "-") {
				g.fill(t, v.FieldByIndex(f.Index), depth+1)
			}
		}
	case reflect.Uint8:
		v.SetUint(uint64(rapid.Byte().Draw(t, "byte")))
	default:
		t.Fatalf("no values for %s", v.Type())
	}
}
