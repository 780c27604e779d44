package acp

import "encoding/json"

// result is the decoded raw output of a tool.
type result struct {
	raw      json.RawMessage
	text     string // for display
	textOnly bool   // raw holds nothing but text
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
		Output, Stdout, FormattedOutput, Stderr, Error, Message any
		ExitCode, Exit                                          *int
		Snake                                                   *int `json:"exit_code"`
		Metadata                                                struct{ Exit, ExitCode *int }
	}
	_ = decode(raw, &o) // ignore fields of other types
	for _, v := range []any{o.FormattedOutput, o.Output, o.Stdout} {
		if s, ok := v.(string); ok && r.text == "" {
			r.text = s
		}
	}
	if s, ok := o.Stderr.(string); ok {
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
	return r
}
