package compaction

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"agentctl/server/agent/llm/model"
)

const (
	smallResult = 1 << 10 // bytes of a result that is not worth dropping
	smallText   = 256     // bytes of a text that is never cut
	noteSize    = 64      // bytes of a note about what was left out, at most
)

// DropResults replaces large results of tools with notes. It keeps the newest results up to keep bytes
// in total, and all results of the last message. It returns a new conversation and the bytes that
// it saved.
func DropResults(messages []model.Message, keep int64) (out []model.Message, saved int64) {
	out = slices.Clone(messages)
	for i := len(out) - 1; i >= 0; i-- {
		out[i].Parts = slices.Clone(out[i].Parts)
		for j := range out[i].Parts {
			p := &out[i].Parts[j]
			if p.Result == nil {
				continue
			}
			before := PartSize(model.User, p)
			if keep -= before; keep >= 0 || i == len(out)-1 || before <= smallResult {
				continue
			}
			p.Result = dropped(p.Result)
			saved += before - PartSize(model.User, p)
		}
	}
	return out, saved
}

// dropped returns a result without its text and files.
func dropped(r *model.Result) *model.Result {
	c := *r
	c.Files = nil
	c.Text = fmt.Sprintf("[%d bytes were left out to save space. Call %s again if you need them.]", len(r.Text), r.Name)
	if n := len(r.Files); n > 0 {
		c.Text += fmt.Sprintf(" [%d files were left out too.]", n)
	}
	return &c
}

// Fit returns the messages with at most room bytes, if their small texts and what cannot be cut have no
// more. Older results of tools lose their text first. Then long texts lose their middle, all down to
// the same length: results and files, then the arguments of calls, then texts. A note stands where
// something was left out, and no part vanishes.
func Fit(messages []model.Message, room int64) []model.Message {
	size := Size(messages)
	if size <= room {
		return messages
	}
	s := Measure(messages)
	notes := int64(len(lengths(messages, isResult))) * 2 * noteSize
	out, saved := DropResults(messages, room-(size-s.Results)-notes)
	size -= saved
	for _, kind := range []func(*model.Part) bool{isContent, isCall, isText} {
		if size <= room {
			break
		}
		out = cutParts(out, kind, leastCut(lengths(out, kind), size-room))
		size = Size(out)
	}
	return out
}

func isResult(p *model.Part) bool  { return p.Result != nil }
func isContent(p *model.Part) bool { return p.Result != nil || p.File != nil }
func isText(p *model.Part) bool    { return p.Type == model.Text }
func isCall(p *model.Part) bool    { return p.Call != nil }

// length returns the bytes of a part that can be cut.
func length(p *model.Part) int {
	switch {
	case p.Result != nil:
		return len(p.Result.Text)
	case p.File != nil:
		return len(p.File.Text)
	case p.Call != nil:
		return max(len(p.Call.Input), len(p.Raw))
	}
	return max(len(p.Text), len(p.Raw))
}

// lengths returns the lengths of the parts of a kind.
func lengths(messages []model.Message, kind func(*model.Part) bool) (all []int) {
	for i := range messages {
		for j := range messages[i].Parts {
			if p := &messages[i].Parts[j]; kind(p) {
				all = append(all, length(p))
			}
		}
	}
	return all
}

// leastCut returns the greatest length to which texts are cut to save some bytes, or smallText.
func leastCut(lengths []int, save int64) int {
	slices.Sort(lengths)
	// With the n longest cut to a length, they save their sum without n times that length.
	for n, sum := 1, int64(0); n <= len(lengths); n++ {
		sum += int64(lengths[len(lengths)-n])
		most := (sum-save)/int64(n) - noteSize
		if next := len(lengths) - n - 1; next < 0 || most >= int64(lengths[next]) {
			return int(max(smallText, most))
		}
	}
	return smallText
}

// cutParts cuts the parts of a kind to most bytes and a note.
func cutParts(messages []model.Message, kind func(*model.Part) bool, most int) []model.Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Parts = slices.Clone(out[i].Parts)
		for j := range out[i].Parts {
			if p := &out[i].Parts[j]; kind(p) && length(p) > most+noteSize {
				cut(p, most)
			}
		}
	}
	return out
}

func cut(p *model.Part, most int) {
	p.Raw = nil // its provider takes the text instead
	switch {
	case p.Result != nil:
		r := *p.Result
		r.Text = Cut(r.Text, most)
		p.Result = &r
	case p.File != nil:
		f := *p.File
		f.Text = Cut(f.Text, most)
		p.File = &f
	case p.Call != nil:
		c := *p.Call
		// A string has no error.
		c.Input, _ = json.Marshal(map[string]string{"left_out": fmt.Sprintf("%d bytes, to save space", len(c.Input))})
		p.Call = &c
	default:
		p.Text = Cut(p.Text, most)
	}
}

// Cut returns the beginning and the end of a text that is longer than most bytes, and a note between
// them.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := most/2, len(text)-most/2
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[%d bytes were left out to save space]\n%s", text[:head], tail-head, text[tail:])
}

// CutTexts cuts the longest texts, all to the same length, until they have at most about most bytes
// together.
func CutTexts(texts []string, most int) []string {
	var lengths []int
	sum := 0
	for _, text := range texts {
		lengths = append(lengths, len(text))
		sum += len(text)
	}
	if sum <= most {
		return texts
	}
	length := leastCut(lengths, int64(sum-most))
	out := slices.Clone(texts)
	for i, text := range out {
		if len(text) > length+noteSize {
			out[i] = Cut(text, length)
		}
	}
	return out
}
