package web

import (
	"maps"
	"slices"
	"testing"

	"agentctl/protocol"
)

func TestEveryCodeIsListedAndHasAStatus(t *testing.T) {
	if want := slices.Sorted(maps.Keys(statuses)); !slices.Equal(slices.Sorted(slices.Values(protocol.Codes)), want) {
		t.Errorf("protocol.Codes and the statuses differ:\n%q\n%q", protocol.Codes, want)
	}
}
