// Package sse reads server-sent events. It accepts every line end, a stream that ends without an
// empty line, and lines of any length up to a bound.
//
// It knows no provider and no JSON.
package sse
