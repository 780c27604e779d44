package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/template"
	"time"

	"github.com/itchyny/gojq"

	"agentctl/internal/exit"
	"agentctl/internal/format"
)

// A Filter turns a line of JSON into the text to print instead.
type Filter func(line []byte) ([]byte, error)

// NewQuery returns a filter that runs a jq expression on each line. Each of its results is a line:
// a string without quotes, other values as compact JSON. The environment is in $ENV.
func NewQuery(expression string) (Filter, error) {
	query, err := gojq.Parse(expression)
	if err != nil {
		return nil, exit.Usagef("invalid --jq: %w", err)
	}
	code, err := gojq.Compile(query, gojq.WithEnvironLoader(os.Environ))
	if err != nil {
		return nil, exit.Usagef("invalid --jq: %w", err)
	}
	return func(line []byte) ([]byte, error) {
		var value any
		if err := json.Unmarshal(line, &value); err != nil {
			return nil, fmt.Errorf("--jq: %w", err)
		}
		var out []byte
		results := code.Run(value)
		for {
			v, ok := results.Next()
			if !ok {
				return out, nil
			}
			switch v := v.(type) {
			case error:
				if halt, ok := v.(*gojq.HaltError); ok && halt.Value() == nil {
					return out, nil
				}
				return out, fmt.Errorf("--jq: %w", v)
			case string:
				out = append(out, v...)
			default:
				encoded, err := gojq.Marshal(v)
				if err != nil {
					return out, fmt.Errorf("--jq: %w", err)
				}
				out = append(out, encoded...)
			}
			out = append(out, '\n')
		}
	}, nil
}

// NewTemplate returns a filter that executes a Go template on each line of JSON. Its output is a
// line. It adds json, join, lower, upper, truncate and age to Go's functions.
func NewTemplate(text string) (Filter, error) {
	t, err := template.New("--template").Funcs(templateFuncs).Option("missingkey=zero").Parse(text)
	if err != nil {
		return nil, exit.Usagef("invalid --template: %w", err)
	}
	return func(line []byte) ([]byte, error) {
		var value any
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber() // a position stays the number that it is
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("--template: %w", err)
		}
		var out bytes.Buffer
		if err := t.Execute(&out, value); err != nil {
			return nil, fmt.Errorf("--template: %w", err)
		}
		out.WriteByte('\n')
		return out.Bytes(), nil
	}, nil
}

var templateFuncs = template.FuncMap{
	"json": func(v any) (string, error) {
		b, err := json.Marshal(v)
		return string(b), err
	},
	"join": func(separator string, list []any) string {
		words := make([]string, len(list))
		for i, v := range list {
			words[i] = fmt.Sprint(v)
		}
		return strings.Join(words, separator)
	},
	"lower":    strings.ToLower,
	"upper":    strings.ToUpper,
	"truncate": func(width int, v any) string { return OneLine(fmt.Sprint(v), width) },
	"age": func(at string) (string, error) {
		t, err := time.Parse(time.RFC3339, at)
		return format.Age(time.Since(t)), err
	},
}

// A filterWriter passes lines through a filter. A line may come in several writes.
type filterWriter struct {
	w       io.Writer
	filter  Filter
	partial []byte
}

func (f *filterWriter) Write(p []byte) (int, error) {
	text := append(f.partial, p...)
	for {
		line, rest, ok := bytes.Cut(text, []byte("\n"))
		if !ok {
			break
		}
		text = rest
		out, err := f.filter(line)
		if len(out) > 0 {
			if _, err := f.w.Write(out); err != nil {
				return 0, err
			}
		}
		if err != nil {
			return 0, err
		}
	}
	f.partial = bytes.Clone(text)
	return len(p), nil
}
