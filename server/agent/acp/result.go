package acp

import (
	"encoding/json"
	"strings"
)

// result is the decoded raw output of a tool.
type result struct {
	raw      json.RawMessage
	text     string // for display
	textOnly bool   // raw holds only text
	failure  string
	exit     *int
}

// parseResult extracts text, error and exit status from a raw output. Its form differs between
// agents.
func parseResult(raw json.RawMessage) result {
	if !present(raw) {
		return result{}
	}
	r := result{raw: raw}
	if json.Unmarshal(raw, &r.text) == nil {
		r.textOnly = true
		r.failure = r.text
		return r
	}
	var o struct {
		Output, Stdout, Stderr, Content, Error, Message any
		Aggregated                                      any `json:"aggregated_output"` // both streams
		Formatted                                       any `json:"formatted_output"`
		ExitCode, Exit                                  *int
		Snake                                           *int `json:"exit_code"`
		Metadata                                        struct{ Exit, ExitCode *int }
		Contents                                        []struct{ ExitCode *int }
	}
	_ = decode(raw, &o) // ignore fields of other types
	for _, v := range []any{o.Aggregated, o.Formatted, o.Output, o.Content, o.Stdout} {
		if s, ok := v.(string); ok && r.text == "" {
			r.text = s
		}
	}
	if s, ok := o.Stderr.(string); ok && !strings.Contains(r.text, s) {
		r.text += s
	}
	for _, v := range []any{o.Error, o.Message, o.Stderr} {
		if s, ok := v.(string); ok && r.failure == "" {
			r.failure = s
		}
	}
	for _, v := range []*int{o.ExitCode, o.Exit, o.Snake, o.Metadata.Exit, o.Metadata.ExitCode} {
		if v != nil && r.exit == nil {
			r.exit = v
		}
	}
	for _, c := range o.Contents {
		if c.ExitCode != nil && r.exit == nil {
			r.exit = c.ExitCode
		}
	}
	return r
}
