package server

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// errOrigin is the reason for the end of a page whose origin is no longer in the list.
var errOrigin = errors.New("this web origin is not allowed")

// Origins are web origins whose pages may connect ("https://host:port"). The zero value and nil
// have none. Their methods may be called from any goroutine.
type Origins struct {
	mu    sync.Mutex // guards the fields below; held briefly
	list  []string
	pages map[*page]struct{} // that are connected
}

// A page is a running request with origins.
type page struct {
	origins []string
	end     func(reason error)
}

// NewOrigins returns Origins with a list.
func NewOrigins(list ...string) *Origins {
	o := new(Origins)
	o.Set(list)
	return o
}

// Set replaces the list. Connections and requests of pages that are not in it end.
func (o *Origins) Set(list []string) {
	o.mu.Lock()
	o.list = list
	var gone []*page
	for p := range o.pages {
		if !o.listed(p.origins) {
			gone = append(gone, p)
		}
	}
	o.mu.Unlock()
	for _, p := range gone {
		p.end(errOrigin)
	}
}

// allow reports whether all of the origins of a request may connect. A request without one is not
// of a page.
func (o *Origins) allow(origins []string) bool {
	if o == nil {
		return len(origins) == 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.listed(origins)
}

// listed reports whether the list has all origins. It requires mu.
func (o *Origins) listed(origins []string) bool {
	return !slices.ContainsFunc(origins, func(origin string) bool { return !slices.Contains(o.list, origin) })
}

// watch calls end, which must not block, when one of the origins of an allowed request leaves the
// list. The caller must call stop; a concurrent call of end may still follow.
func (o *Origins) watch(origins []string, end func(reason error)) (stop func()) {
	if o == nil || len(origins) == 0 {
		return func() {}
	}
	p := &page{origins, end}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.listed(origins) { // replaced since the request was allowed
		go end(errOrigin)
	}
	if o.pages == nil {
		o.pages = map[*page]struct{}{}
	}
	o.pages[p] = struct{}{}
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.pages, p)
	}
}

// crossSite reports whether a browser marks a request as coming from a page of another site,
// without an Origin to check: an image, a script, a form or a link.
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
