package verbtest

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"

	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
)

// Parse parses a command line and returns the options that the verb would run with.
func Parse[O any](v *verb.Verb, line string) (*O, error) {
	var got *O
	cli := &verb.Context{
		Stdin: strings.NewReader(""), Out: output.Printer{Stdout: io.Discard, Stderr: io.Discard},
		Env: func(string) string { return "" },
	}
	cmd := v.Command(cli, func(options any) error {
		got = options.(*O)
		return nil
	})
	cmd.SetArgs(strings.Fields(line))
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.Execute()
	return got, err
}

// CheckOptions compares the exported options that a command line is parsed into.
func CheckOptions[O any](t *testing.T, v *verb.Verb, line string, want O) {
	t.Helper()
	got, err := Parse[O](v, line)
	if err != nil {
		t.Errorf("%q: %v", line, err)
		return
	}
	g, w := exportedFields(got), exportedFields(&want)
	if !reflect.DeepEqual(g, w) {
		t.Errorf("%q gives %+v, want %+v", line, g, w)
	}
}

// exportedFields returns the exported fields of options, without the context of the run.
func exportedFields(o any) map[string]any {
	v := reflect.ValueOf(o).Elem()
	m := map[string]any{}
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && f.Type != reflect.TypeFor[verb.Options]() {
			value := v.Field(i)
			if value.Kind() == reflect.Slice && value.Len() == 0 {
				m[f.Name] = "none"
				continue
			}
			m[f.Name] = value.Interface()
		}
	}
	return m
}

// A Screen keeps the output of a screen.
type Screen struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (b *Screen) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

// Bytes returns what was written until now.
func (b *Screen) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.out.Bytes())
}

// Has reports whether the output has a text, as one piece.
func (b *Screen) Has(text string) bool { return bytes.Contains(b.Bytes(), []byte(text)) }
