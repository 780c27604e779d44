package thorough

import (
	"flag"
	"os"
	"strconv"
)

const variable = "AGENTCTL_TEST_THOROUGH"

// All reports whether tests do everything. It reads the variable each time, so that the Go command
// knows that the result of the test depends on it.
func All() bool { return os.Getenv(variable) != "" }

// raceFactor divides what a test does under the race detector, which makes it several times slower. The
// detector looks at what goroutines share, which depends less on the values than on the code that runs.
const raceFactor = 3

// raceLeast is the number up to which the race detector divides nothing: a test may judge what it did in all.
const raceLeast = 10

// Rounds returns the number of repetitions: few by default, and a part of them under the race detector.
func Rounds(few, many int) int {
	switch {
	case All():
		return many
	case race:
		return min(few, max(raceLeast, few/raceFactor))
	}
	return few
}

// Step returns the distance between the cases of a sweep that are tried: n by default, or 1.
func Step(n int) int {
	switch {
	case All():
		return 1
	case race:
		return n * raceFactor
	}
	return n
}

// Checks sets how many cases rapid tries in each test of a package: few by default. Call it from TestMain,
// or from init of the file with the tests. The flag -rapid.checks overrides it.
func Checks(few, many int) {
	setFlag("rapid.checks", Rounds(few, many))
}

// Parallel sets how many parallel tests of a package run at a time, for tests that wait more than they
// compute. Call it from TestMain. The flag -parallel overrides it.
func Parallel(n int) { setFlag("test.parallel", n) }

func setFlag(name string, n int) {
	if err := flag.Set(name, strconv.Itoa(n)); err != nil {
		panic(err)
	}
}

// Sample returns n elements of a list by default, evenly spread from the first to the last, or the
// whole list. It returns the same ones each time.
func Sample[E any](list []E, n int) []E {
	if n = Rounds(n, len(list)); n >= len(list) {
		return list
	}
	some := make([]E, n)
	for i := range some {
		some[i] = list[i*(len(list)-1)/max(1, n-1)]
	}
	return some
}
