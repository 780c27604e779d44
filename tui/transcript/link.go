package transcript

import "strings"

// A link is an OSC 8 sequence around its text, repeated on each line. Its target is always visible
// as well.
const (
	linkBegin    = "\x1b]8;;"
	linkEnd      = "\x1b\\"
	maxLinkBytes = 1024
)

// LinkEnd is the sequence that closes a link.
const LinkEnd = linkBegin + linkEnd

// isSafeURL reports whether a URL can be a link target: an http, https or mailto URL of at most
// maxLinkBytes, with no characters that URLs must escape.
func isSafeURL(url string) bool {
	scheme, _, ok := strings.Cut(url, ":")
	if !ok || len(url) > maxLinkBytes {
		return false
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "mailto":
	default:
		return false
	}
	for i := range len(url) {
		if c := url[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			return false
		}
	}
	return true
}

// withLink returns text as a link to url. An empty url means no link.
func withLink(text, url string) string {
	if url == "" || text == "" {
		return text
	}
	return linkBegin + url + linkEnd + text + LinkEnd
}

// LinkSequence parses the sequence that opens or closes a link at the start of s. It returns the
// length of the sequence and the URL, which is empty for a closing one. For other text n is 0.
func LinkSequence(s string) (n int, url string) {
	rest, ok := strings.CutPrefix(s, linkBegin)
	if !ok {
		return 0, ""
	}
	url, _, ok = strings.Cut(rest[:min(len(rest), maxLinkBytes+len(linkEnd))], linkEnd)
	if !ok || url != "" && !isSafeURL(url) {
		return 0, ""
	}
	return len(linkBegin) + len(url) + len(linkEnd), url
}
