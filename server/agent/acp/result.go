package acp

import (
	"cmp"
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
	r.text = firstText(o.Aggregated, o.Formatted, o.Output, o.Content, o.Stdout)
	if s, ok := o.Stderr.(string); ok && !strings.Contains(r.text, s) {
		r.text += s
	}
	r.failure = firstText(o.Error, o.Message, o.Stderr)
	r.exit = cmp.Or(o.ExitCode, o.Exit, o.Snake, o.Metadata.Exit, o.Metadata.ExitCode)
	for _, c := range o.Contents {
		r.exit = cmp.Or(r.exit, c.ExitCode)
	}
	return r
}

// firstText returns the first text of some values that is not empty, or "".
func firstText(values ...any) string {
	for _, v := range values {
		if s, _ := v.(string); s != "" {
			return s
		}
	}
	return ""
}
