package codec

import (
	"fmt"
	"testing"
)

func TestAResumeStoreKeepsTheNewest(t *testing.T) {
	var trail ResumeStore
	for i := range maxTrail + 1 {
		trail.Put(fmt.Sprint(i), i)
		trail.Put(fmt.Sprint(i), i)
	}
	if trail.Get("0") != nil || trail.Get("1") != 1 || trail.Get(fmt.Sprint(maxTrail)) != maxTrail || trail.Get("x") != nil {
		t.Error("the trail keeps what it should not, or the other way round")
	}
	if len(trail.left) != maxTrail || len(trail.order) != maxTrail {
		t.Errorf("%d and %d are kept", len(trail.left), len(trail.order))
	}
}
