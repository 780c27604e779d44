package protocol

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// errLabel returns the error for a label that no host has.
func errLabel() error { return errors.New("invalid label of a host") }

// Parameters of the encoding.
const (
	punyBase, punyMin, punyMax, punySkew = 36, 1, 26, 38
	punyDamp, punyBias, punyFirst        = 700, 72, 0x80
)

// asciiLabel returns a label of a host in ASCII: one with other letters in the encoding of RFC 3492
// behind "xn--".
func asciiLabel(label string) (string, error) {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	var basic strings.Builder
	for _, c := range label {
		switch {
		case c == '-' || c == '_' || c < utf8.RuneSelf && strings.ContainsRune(letters, c):
			basic.WriteRune(c)
		case c < utf8.RuneSelf || c == utf8.RuneError || !unicode.In(c, unicode.L, unicode.M, unicode.N):
			return "", errLabel()
		}
	}
	out := basic.String()
	if out == label && len(label) > 0 && len(label) <= 63 {
		return label, nil
	}
	runes := []rune(label)
	first := len(out)
	if first > 0 {
		out += "-"
	}
	n, delta, bias := rune(punyFirst), 0, punyBias
	for done := first; done < len(runes); n++ {
		next := rune(unicode.MaxRune)
		for _, c := range runes {
			if c >= n {
				next = min(next, c)
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, c := range runes {
			switch {
			case c < n:
				delta++
			case c == n:
				digits := []byte{}
				q := delta
				for k := punyBase; ; k += punyBase {
					t := min(max(k-bias, punyMin), punyMax)
					if q < t {
						digits = append(digits, letters[q])
						break
					}
					digits = append(digits, letters[t+(q-t)%(punyBase-t)])
					q = (q - t) / (punyBase - t)
				}
				out += string(digits)
				bias = punyAdapt(delta, done+1, done == first)
				delta = 0
				done++
			}
		}
		delta++
	}
	if out = "xn--" + out; len(runes) == 0 || len(out) > 63 || slices.Contains(runes, utf8.RuneError) {
		return "", errLabel()
	}
	return out, nil
}

// punyAdapt returns the bias after a delta was encoded.
func punyAdapt(delta, count int, first bool) int {
	if delta /= 2; first {
		delta = delta * 2 / punyDamp
	}
	delta += delta / count
	k := 0
	for ; delta > (punyBase-punyMin)*punyMax/2; k += punyBase {
		delta /= punyBase - punyMin
	}
	return k + (punyBase-punyMin+1)*delta/(delta+punySkew)
}
