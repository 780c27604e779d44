package filelist

import (
	"fmt"
	"path"
	"strings"
)

// maxAlternatives bounds the patterns that the braces of one stand for.
const maxAlternatives = 64

// CheckGlob returns why a pattern of MatchGlob is invalid, or nil.
func CheckGlob(pattern string) error {
	all := alternatives(pattern)
	if len(all) > maxAlternatives {
		return fmt.Errorf("the pattern %.200q has more than %d alternatives", pattern, maxAlternatives)
	}
	for _, p := range all {
		if _, err := path.Match(strings.ReplaceAll(p, "**", "*"), ""); err != nil || p == "" {
			return fmt.Errorf("invalid pattern %.200q", pattern)
		}
	}
	return nil
}

// MatchGlob reports whether a pattern matches a path of a listing. In a pattern ** stands for any
// number of directories, and {a,b} for a or b. A pattern without a slash matches the name of a file
// in any directory.
func MatchGlob(pattern, name string) bool {
	segments := strings.Split(name, "/")
	for i, p := range alternatives(pattern) {
		if i == maxAlternatives {
			return false
		}
		want := strings.Split(strings.TrimPrefix(p, "./"), "/")
		if !strings.Contains(pattern, "/") {
			want = append([]string{"**"}, want...)
		}
		if matchSegments(want, segments) {
			return true
		}
	}
	return false
}

// alternatives returns the patterns that one with braces stands for, at most one more than
// maxAlternatives.
func alternatives(pattern string) []string {
	out := []string{""}
	for {
		before, rest, found := strings.Cut(pattern, "{")
		list, after, closed := strings.Cut(rest, "}")
		if !found || !closed || len(out) > maxAlternatives {
			before, list, after = pattern, "", ""
		}
		var next []string
		for _, o := range out {
			for choice := range strings.SplitSeq(list, ",") {
				if next = append(next, o+before+choice); len(next) > maxAlternatives {
					break
				}
			}
		}
		out = next[:min(len(next), maxAlternatives+1)]
		if after == "" {
			return out
		}
		pattern = after
	}
}
