package script

import (
	"errors"
	"iter"
	"time"
	"unicode"
	"unicode/utf8"
)

// A pace tells how a text streams: the words or runes of each delta and the delay before it.
type rate struct {
	Words int       `json:"words"`
	Runes int       `json:"runes"`
	Delay *duration `json:"delay"`
}

func (r *rate) check() error {
	if r.Words < 0 || r.Runes < 0 || r.Words > 0 && r.Runes > 0 {
		return errors.New("words and runes: one of them, at least 1")
	}
	return nil
}

// withDefaults fills what p leaves open.
func (r rate) withDefaults(by rate) rate {
	if r.Words == 0 && r.Runes == 0 {
		r.Words, r.Runes = by.Words, by.Runes
	}
	if r.Words == 0 && r.Runes == 0 {
		r.Words = 1
	}
	if r.Delay == nil {
		r.Delay = by.Delay
	}
	return r
}

func (r rate) delay() time.Duration {
	if r.Delay == nil {
		return 0
	}
	return time.Duration(*r.Delay)
}

// chunks cuts a text at runes or after the space that follows a word. The pieces joined are the text.
func (r rate) chunks(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			n := r.chunkEnd(text)
			if !yield(text[:n]) {
				return
			}
			text = text[n:]
		}
	}
}

func (p rate) chunkEnd(text string) int {
	count, space := 0, false
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if p.Words == 0 {
			if count == p.Runes {
				return i
			}
			count++
		} else {
			if space && !unicode.IsSpace(r) {
				if count++; count == p.Words {
					return i
				}
			}
			space = unicode.IsSpace(r) && i > 0
		}
		i += size
	}
	return len(text)
}

// stream yields the chunks of a text that is said times times, with the delay before each.
func (r rate) stream(text string, times int) iter.Seq2[string, time.Duration] {
	return func(yield func(string, time.Duration) bool) {
		for range max(1, times) {
			for chunk := range r.chunks(text) {
				if !yield(chunk, r.delay()) {
					return
				}
			}
		}
	}
}
