package config

import (
	"reflect"
	"slices"
	"testing"
)

// reloaded are the fields of Server that a running server takes over.
var reloaded = []string{
	"Agents", "MCP", "Providers", "DefaultAgent", "Sandbox", "Window", "Limits", "Origins", "Hooks",
	"ContinueAfterLimit", "ApprovalTimeout", "EditHold", "AgentIdle", "StateTTL",
}

// A change of any value that a running server does not take over is named by its key.
func TestAChangeThatNeedsARestartIsNamed(t *testing.T) {
	fields := reflect.TypeFor[Server]()
	for _, field := range reflect.VisibleFields(fields) {
		if field.Anonymous || !field.IsExported() { // the fields of an embedded one follow
			continue
		}
		next := &Server{}
		switch v := reflect.ValueOf(next).Elem().FieldByIndex(field.Index); v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Int, reflect.Int64:
			v.SetInt(1)
		case reflect.Map:
			v.Set(reflect.MakeMap(v.Type()))
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case reflect.Struct:
			if v.Field(0).Kind() == reflect.String {
				v.Field(0).SetString("x")
			} else {
				v.Field(0).SetInt(1)
			}
		default:
			t.Fatalf("%s: %s", field.Name, v.Kind())
		}
		var want []string
		if !slices.Contains(reloaded, fields.Field(field.Index[0]).Name) {
			want = []string{field.Tag.Get("json")}
		}
		if got := new(Server).RestartFor(next); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", field.Name, got, want)
		}
		if got := next.RestartFor(next); got != nil {
			t.Errorf("%s, unchanged: %q", field.Name, got)
		}
	}
}
