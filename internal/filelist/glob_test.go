package filelist

import (
	"strings"
	"testing"
)

func TestGlobs(t *testing.T) {
	for _, test := range []struct {
		pattern, name string
		want          bool
	}{
		{"*.go", "a.go", true},
		{"*.go", "x/y/a.go", true},
		{"*.go", "a.goo", false},
		{"x/*.go", "x/a.go", true},
		{"x/*.go", "x/y/a.go", false},
		{"./x/*.go", "x/a.go", true},
		{"**/*.go", "a.go", true},
		{"x/**/a.go", "x/a.go", true},
		{"x/**/a.go", "x/y/z/a.go", true},
		{"x/**", "x/y/z", true},
		{"*.{ts,tsx}", "x/a.tsx", true},
		{"*.{ts,tsx}", "x/a.js", false},
		{"{a,b}/{c,d}", "b/c", true},
		{"{a,b}/{c,d}", "b/e", false},
		{"a{,b}", "a", true},
		{"a{b", "a{b", true},
		{"a?c", "abc", true},
		{"[ab]", "b", true},
	} {
		if err := CheckGlob(test.pattern); err != nil {
			t.Errorf("%s: %v", test.pattern, err)
		}
		if got := MatchGlob(test.pattern, test.name); got != test.want {
			t.Errorf("%s matches %s: %t", test.pattern, test.name, got)
		}
	}
	for _, pattern := range []string{"", "[a", strings.Repeat("{a,b}", 40)} {
		if CheckGlob(pattern) == nil {
			t.Errorf("%q is valid", pattern)
		}
	}
}
