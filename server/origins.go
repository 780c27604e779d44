package server

import (
	"slices"
	"sync/atomic"
)

// Origins are web origins whose pages may connect ("https://host:port"). The zero value and nil
// have none. Their methods may be called from any goroutine.
type Origins struct{ list atomic.Pointer[[]string] }

// NewOrigins returns Origins with a list.
func NewOrigins(list ...string) *Origins {
	o := new(Origins)
	o.Set(list)
	return o
}

// Set replaces the list, for connections and requests that begin later.
func (o *Origins) Set(list []string) { o.list.Store(&list) }

// allow reports whether all of the origins of a request may connect. A request without one is not
// of a page.
func (o *Origins) allow(origins []string) bool {
	var list []string
	if o != nil {
		if p := o.list.Load(); p != nil {
			list = *p
		}
	}
	for _, origin := range origins {
		if !slices.Contains(list, origin) {
			return false
		}
	}
	return true
}
