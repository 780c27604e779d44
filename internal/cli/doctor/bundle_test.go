package doctor

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentctl/internal/cli/verb"
	"agentctl/internal/config"
	"agentctl/internal/redact"
	"agentctl/internal/serverlog"
	"agentctl/protocol"
)

// A marker makes values of types in which every text, key and number is marked.
type marker struct {
	n       int
	numbers map[string]string // by path
}

func (m *marker) text() string { m.n++; return fmt.Sprintf("marked-%d", m.n) }

func (m *marker) value(path string, t reflect.Type, depth int) any {
	if depth > 12 {
		return m.text()
	}
	p := reflect.PointerTo(t)
	switch {
	case t.Kind() == reflect.Pointer:
		return m.value(path, t.Elem(), depth)
	case p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return m.text()
	case t.Kind() == reflect.Interface || p.Implements(reflect.TypeFor[json.Unmarshaler]()):
		return map[string]any{m.text(): []any{m.text(), m.number(path + "?")}}
	}
	switch t.Kind() {
	case reflect.Struct:
		object := map[string]any{m.text(): m.text()} // an unknown key
		for name, field := range config.JSONFields(t) {
			object[name] = m.value(joinPath(path, name), field, depth+1)
		}
		return object
	case reflect.Map:
		return map[string]any{m.text(): m.value(path+".*", t.Elem(), depth+1)}
	case reflect.Slice, reflect.Array:
		return []any{m.value(path+"[]", t.Elem(), depth+1)}
	case reflect.Bool:
		return true
	case reflect.String:
		return m.text()
	default:
		return m.number(path)
	}
}

func (m *marker) number(path string) json.Number {
	m.n++
	n := fmt.Sprint(98760000 + m.n)
	m.numbers[path] = n
	return json.Number(n)
}

// check fails the test if a bundle has a marked value that is no number of publicConfig.
func (m *marker) check(t *testing.T, b *bundle) {
	t.Helper()
	for line := range strings.Lines(b.text.String()) {
		if strings.Contains(line, "marked") {
			t.Errorf("the bundle has a marked text: %s", line)
		}
	}
	for path, n := range m.numbers {
		if public := publicConfig()[path] != nil; public != strings.Contains(b.text.String(), n) {
			t.Errorf("number of %s: public is %v, in the bundle is %v", path, public, !public)
		}
	}
}

// Every key of the types of both files is marked, so that a new key cannot be shown by mistake.
func TestNoMarkedValueOfAConfigurationIsInABundle(t *testing.T) {
	for _, of := range []reflect.Type{reflect.TypeFor[config.User](), reflect.TypeFor[config.Server]()} {
		m := &marker{numbers: map[string]string{}}
		text, err := json.Marshal(m.value("", of, 0))
		if err != nil {
			t.Fatal(err)
		}
		// A text in the place of every value of publicConfig, too.
		for _, file := range [][]byte{text, text[:len(text)-2], []byte(`"marked"`), []byte(`["marked",{"marked":1}]`)} {
			path := filepath.Join(t.TempDir(), "marked.json")
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			b := new(bundle)
			b.configuration("configuration", path, of)
			if bytes.Equal(file, text) {
				m.check(t, b)
				if lines := b.Sections[0].Lines; lines < len(config.JSONFields(of)) {
					t.Errorf("%v: %d lines", of, lines)
				}
				continue
			}
			(&marker{}).check(t, b)
		}
	}
}

func TestABundleHasThePublicSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.json")
	text := `{"sync": "full", "agent_idle": "90m", "users": "ada.json", "limits": {"queue": 7}, "origins": ["https://a"]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b := new(bundle)
	b.configuration("c", path, reflect.TypeFor[config.Server]())
	const want = "[c]\nagent_idle: 1h30m0s\nlimits: object of 1\nlimits.queue: 7\norigins: array of 1\n" +
		"origins[]: string, 9 bytes\nsync: full\nusers: string, 8 bytes\n"
	if got := b.text.String(); got != want {
		t.Errorf("%s", got)
	}
}

func TestEveryPublicSettingIsASetting(t *testing.T) {
	known := map[string]bool{}
	var walk func(path string, t reflect.Type)
	walk = func(path string, t reflect.Type) {
		known[path] = true
		switch t.Kind() {
		case reflect.Slice:
			walk(path+"[]", t.Elem())
		case reflect.Struct:
			for name, field := range config.JSONFields(t) {
				walk(joinPath(path, name), field)
			}
		}
	}
	walk("", reflect.TypeFor[config.User]())
	walk("", reflect.TypeFor[config.Server]())
	for path := range publicConfig() {
		if !known[path] {
			t.Errorf("%s is no setting", path)
		}
	}
}

func TestNoMarkedValueOfALogIsInABundle(t *testing.T) {
	for _, format := range serverlog.Formats {
		path := filepath.Join(t.TempDir(), "log")
		var file bytes.Buffer
		log := serverlog.New(&file, format, "debug", new(redact.Log)).With("with", "marked")
		log.Warn("turn failed", "session", "marked", "code", "agent_failed", "err", errors.New("marked \"quoted\" a=b"))
		log.Info("marked message of an agent", "code", "marked_code")
		log.Error("commit", "msg", "marked", "code", "marked", slog.Group("code", "code", "marked"), "time", "marked")
		log.Info(string(protocol.SessionCreated), "marked key", "marked", "msg", "marked")
		file.WriteString("panic: marked\n{\"time\":\"marked\",\"level\":\"INFO\"}\ntime=marked level=INFO msg=\"turn failed\"\n")
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		b := new(bundle)
		b.log(path)
		(&marker{}).check(t, b)
		got := b.text.String()
		for _, want := range []string{
			" WARN turn failed, code agent_failed\n", " INFO message of 26 bytes\n", " ERROR commit\n",
			" INFO session.created\n", "not a record, 13 bytes\n",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %s", format, want, got)
			}
		}
		if b.Sections[0].Lines != 7 || strings.Count(got, "not a record") != 3 {
			t.Errorf("%s: %s", format, got)
		}
	}
}

func TestNoMarkedValueOfAnEventIsInABundle(t *testing.T) {
	b := new(bundle)
	b.section("events")
	m := &marker{numbers: map[string]string{}}
	for i := range protocol.EventTypes {
		et := &protocol.EventTypes[i]
		data, err := json.Marshal(m.value("", reflect.TypeOf(et.New()), 0))
		if err != nil {
			t.Fatal(err)
		}
		b.event(&protocol.Event{
			Session: "marked", Seq: 7, Type: et.Type, Turn: "marked", Time: time.Unix(0, 0), By: &protocol.Actor{Name: "marked"},
			Data: data,
		})
	}
	b.event(&protocol.Event{Type: "marked.type", Data: json.RawMessage(`{"text":"marked","marked":{"text":1}}`)})
	m.numbers = nil
	m.check(t, b)
	if strings.Contains(b.text.String(), "9876") {
		t.Error("a number is shown")
	}
	for _, want := range []string{"7 1970-01-01T00:00:00.000Z text.delta {", "; part: string, ", "unknown type of 11 bytes {(key 1, 6 bytes)"} {
		if !strings.Contains(b.text.String(), want) {
			t.Errorf("no %q", want)
		}
	}
}

func TestNoMarkedDetailOfACheckIsInABundle(t *testing.T) {
	b := new(bundle)
	b.checks([]check{
		{"configuration", checkBad, "marked"},
		{"sessions", checkBad, "marked"},
		{"sandbox workspace", checkNote, "marked"},
		{"hook marked", checkOK, "marked"},
		{"mcp marked", checkNote, "marked"},
		{"provider marked", checkOK, "marked"},
		{"agent marked", checkOK, "marked"},
		{"agent claude", checkOK, "marked"},
		{"disk", checkOK, "1.0 GB are free"},
	})
	(&marker{}).check(t, b)
	for _, want := range []string{"ok    disk: 1.0 GB are free\n", "ok    agent claude: text of 6 bytes\n", "hook with a name of 6 bytes"} {
		if !strings.Contains(b.text.String(), want) {
			t.Errorf("no %q in %s", want, b.text.String())
		}
	}
	b.versions(new(verb.Build), &protocol.HelloResult{Server: "marked/1"})
	b.section("x")
	b.failed(&protocol.Error{Code: "marked", Message: "marked"})
	(&marker{}).check(t, b)
}
