package script

import (
	"cmp"
	"errors"
	"iter"
	"time"
	"unicode"
	"unicode/utf8"
)

// A rate sets the number of words or runes per delta and the delay before each delta.
type rate struct {
	Words int       `json:"words"`
	Runes int       `json:"runes"`
	Delay *duration `json:"delay"`
}

func (r *rate) check() error {
	if r.Words < 0 || r.Runes < 0 || r.Words > 0 && r.Runes > 0 {
		return errors.New("words and runes: set one of them, at least 1")
	}
	return nil
}

// withDefaults returns r with unset fields from defaults.
func (r rate) withDefaults(defaults rate) rate {
	if r.Words == 0 && r.Runes == 0 {
		r.Words, r.Runes = defaults.Words, defaults.Runes
	}
	if r.Words == 0 && r.Runes == 0 {
		r.Words = 1
	}
	r.Delay = cmp.Or(r.Delay, defaults.Delay)
	return r
}

func (r rate) delay() time.Duration {
	if r.Delay == nil {
		return 0
	}
	return time.Duration(*r.Delay)
}

// chunkEnd returns the length of the first chunk.
func (r rate) chunkEnd(text string) int {
	count, space := 0, false
	for i := 0; i < len(text); {
		char, size := utf8.DecodeRuneInString(text[i:])
		if r.Words == 0 {
			if count == r.Runes {
				return i
			}
			count++
		} else {
			if space && !unicode.IsSpace(char) {
				if count++; count == r.Words {
					return i
				}
			}
			space = unicode.IsSpace(char) && i > 0
		}
		i += size
	}
	return len(text)
}

// stream yields the chunks of a text, repeated times times, with the delay before each. It splits the
// text at runes or after the space that follows a word; the joined chunks are the text.
func (r rate) stream(text string, times int) iter.Seq2[string, time.Duration] {
	return func(yield func(string, time.Duration) bool) {
		for range max(1, times) {
			for rest := text; rest != ""; {
				n := r.chunkEnd(rest)
				if !yield(rest[:n], r.delay()) {
					return
				}
				rest = rest[n:]
			}
		}
	}
}
