package mcp

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/protocol"
)

// Names of resources are words that can be typed, and all of them fit an event.
func TestNamedResourcesAreBounded(t *testing.T) {
	for uri, want := range map[string]bool{
		"note://1": true, "db://tabelle/\u00e4": true, "": false, "a b": false,
		"a\tb": false, "a\x1b[2J": false, "a\u202eb": false,
		`a"b`: false, "a\xff": false, strings.Repeat("a", maxURI): true, strings.Repeat("a", maxURI+1): false,
	} {
		if got := isMentionable(uri); got != want {
			t.Errorf("%q: %t", uri, got)
		}
	}
	if got := oneLine(" a\n\x1b[2J  b ", 100); got != "a [2J b" {
		t.Errorf("title %q", got)
	}
	b := &Toolbox{}
	for i := range 3 {
		c := newConnection(b, Server{Name: fmt.Sprint("server", i)})
		for k := range maxNamed {
			c.offer.named = append(c.offer.named, protocol.Resource{Name: fmt.Sprint(strings.Repeat("u", maxURI), k)})
		}
		b.connections = append(b.connections, c)
	}
	if n := len(protocol.MustEncode(b.Resources())); n > maxNamedBytes || n < maxNamedBytes*9/10 {
		t.Errorf("%d bytes", n)
	}
}
