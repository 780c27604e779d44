package transcript

import "strings"

// A link is written around its text as terminals understand it (OSC 8), in each
// line anew. What it leads to is always on the screen, too.
const (
	linkBegin = "\x1b]8;;"
	linkEnd   = "\x1b\\"
	linkMax   = 1024 // bytes of what it leads to
)

// LinkEnd ends a link.
const LinkEnd = linkBegin + linkEnd

// isSafeURL tells whether an address may be a link: one of the web or of mail, of
// nothing but the characters that addresses are made of.
func isSafeURL(to string) bool {
	scheme, _, ok := strings.Cut(to, ":")
	if !ok || len(to) > linkMax {
		return false
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "mailto":
	default:
		return false
	}
	for i := range len(to) {
		if c := to[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			return false
		}
	}
	return true
}

// linked is text that leads somewhere.
func linked(text, to string) string {
	if to == "" || text == "" {
		return text
	}
	return linkBegin + to + linkEnd + text + LinkEnd
}

// LinkSequence is the length of the beginning or the end of a link that s begins with,
// and where it leads, which is nowhere for an end. It is 0 for anything else.
func LinkSequence(s string) (n int, to string) {
	rest, ok := strings.CutPrefix(s, linkBegin)
	if !ok {
		return 0, ""
	}
	to, _, ok = strings.Cut(rest[:min(len(rest), linkMax+len(linkEnd))], linkEnd)
	if !ok || to != "" && !isSafeURL(to) {
		return 0, ""
	}
	return len(linkBegin) + len(to) + len(linkEnd), to
}
