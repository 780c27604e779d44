package compaction

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"agentctl/protocol"
	"agentctl/server/agent/llm/model"
)

// smallResult is the size of a result that is not worth dropping.
const smallResult = 1 << 10

// DropResults replaces large tool results with notes. It keeps the newest results up to keep bytes
// in total, and all results of the last message. It returns a new conversation and the bytes that
// it saved.
func DropResults(messages []model.Message, keep int64) (out []model.Message, saved int64) {
	out = slices.Clone(messages)
	for i := len(out) - 1; i >= 0; i-- {
		copied := false
		for j := range out[i].Parts {
			p := &out[i].Parts[j]
			if p.Result == nil {
				continue
			}
			before := Size([]model.Message{{Role: model.User, Parts: []model.Part{*p}}})
			if keep -= before; keep >= 0 || i == len(out)-1 || before <= smallResult {
				continue
			}
			if !copied {
				out[i].Parts, copied = slices.Clone(out[i].Parts), true
				p = &out[i].Parts[j]
			}
			p.Result = dropped(p.Result)
			saved += before - Size([]model.Message{{Role: model.User, Parts: []model.Part{*p}}})
		}
	}
	return out, saved
}

// dropped returns a result without its text and files.
func dropped(r *model.Result) *model.Result {
	c := *r
	c.Files = nil
	c.Text = fmt.Sprintf("[%d bytes were left out to save space. Call %s again if you need them.]", len(r.Text), r.Name)
	return &c
}

// Shorten cuts every result of tools and every text that is longer than most bytes, and drops their
// files. It is for a conversation that is too large even without its older messages.
func Shorten(messages []model.Message, most int) []model.Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Parts = slices.Clone(out[i].Parts)
		for j := range out[i].Parts {
			p := &out[i].Parts[j]
			switch {
			case p.Result != nil:
				r := *p.Result
				r.Text, r.Files = shortened(r.Text, most), nil
				p.Result = &r
			case p.File != nil && p.File.Text != "":
				f := *p.File
				f.Text = shortened(f.Text, most)
				p.File = &f
			case p.Raw == nil && p.Type == model.Text:
				p.Text = shortened(p.Text, most)
			}
		}
	}
	return out
}

// shortened returns the beginning and the end of a text that is longer than most bytes.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head := protocol.SplitText(text, max(utf8.UTFMax, most/2))[0]
	tail := protocol.ValidText(text[len(text)-most/2:])
	return fmt.Sprintf("%s\n[%d bytes were left out to save space]\n%s", head, len(text)-most, tail)
}
