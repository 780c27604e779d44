package protocol

import (
	"fmt"
	"testing"
)

func TestATrailKeepsTheNewest(t *testing.T) {
	var trail Trail
	for i := range maxTrail + 1 {
		trail.Leave(fmt.Sprint(i), i)
		trail.Leave(fmt.Sprint(i), i)
	}
	if trail.Find("0") != nil || trail.Find("1") != 1 || trail.Find(fmt.Sprint(maxTrail)) != maxTrail || trail.Find("x") != nil {
		t.Error("the trail keeps what it should not, or the other way round")
	}
	if len(trail.left) != maxTrail || len(trail.order) != maxTrail {
		t.Errorf("%d and %d are kept", len(trail.left), len(trail.order))
	}
}
