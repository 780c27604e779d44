package main

import (
	"bytes"
	"testing"
)

func TestALineHasThePricesInOneOrder(t *testing.T) {
	for name, c := range map[string]struct {
		model sourceModel
		want  string
	}{
		"written and read": {sourceModel{In: 4, Out: 20, InCached: 5, OutCached: 0.2}, "m 9 3 4 0.2 5 20"},
		"read alone":       {sourceModel{In: 4, Out: 20, InCached: 0.2}, "m 9 3 4 0.2 0 20"},
		"the other order":  {sourceModel{In: 0.25, Out: 1.5, InCached: 0.025, OutCached: 1.5}, "m 9 3 0.25 0.025 0 1.5"},
		"efforts":          {sourceModel{Levels: []string{"low", "max"}}, "m 9 3 0 0 0 0 low,max"},
	} {
		c.model.ID, c.model.Window, c.model.Output = "m", 9, 3
		var out bytes.Buffer
		section(&out, "p", &source{Endpoint: "https://x.example/v1/", Models: []sourceModel{c.model}})
		if want := "[p https://x.example/v1]\n" + c.want + "\n"; out.String() != want {
			t.Errorf("%s: %q, want %q", name, out.String(), want)
		}
	}
}
