package server

import (
	"net/http"
	"slices"
	"strings"
)

// crossSite reports whether a browser says that a page of another site makes a request, without the
// Origin that would have been checked: an image, a script, a form or a link.
func crossSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	return r.Header.Get("Origin") == ""
}

// pageDestinations are the values of Sec-Fetch-Dest of requests that code of a page makes: their
// answers are not shown.
var pageDestinations = []string{"", "empty", "websocket"}

// isPage reports whether a request is for something that a browser shows. The URL of such a request
// gets into histories, bookmarks and the Referer header, so a token in it is refused.
func isPage(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" ||
		!slices.Contains(pageDestinations, r.Header.Get("Sec-Fetch-Dest")) ||
		strings.Contains(r.Header.Get("Accept"), "text/html")
}
