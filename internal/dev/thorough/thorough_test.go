package thorough

import (
	"slices"
	"testing"
)

func TestASampleIsSpreadOverTheList(t *testing.T) {
	list := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	t.Setenv(variable, "")
	factor := 1
	if race {
		factor = raceFactor
	}
	for n, want := range map[int][]int{0: {}, 1: {0}, 2: {0, 9}, 4: {0, 3, 6, 9}, 10: list, 99: list} {
		if got := Sample(list, n); !slices.Equal(got, want) {
			t.Errorf("%d: %v", n, got)
		}
	}
	if n := Rounds(3, 8); n != 3 {
		t.Errorf("%d rounds", n)
	}
	if n := Rounds(30*factor, 800); n != 30 {
		t.Errorf("%d rounds", n)
	}
	if n := Step(3); n != 3*factor {
		t.Errorf("steps of %d", n)
	}
}

func TestAThoroughRunDoesEverything(t *testing.T) {
	list := []int{0, 1, 2, 3}
	t.Setenv(variable, "1")
	if got := Sample(list, 2); !slices.Equal(got, list) {
		t.Errorf("%v", got)
	}
	if n := Rounds(3, 8); n != 8 {
		t.Errorf("%d rounds", n)
	}
	if n := Step(3); n != 1 {
		t.Errorf("steps of %d", n)
	}
}
