package layout

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	maxFileLines    = 400 // of a file that is neither a test nor generated
	maxStructFields = 15  // of a struct of the product
)

// allowance is what a directory may have over the limits. Its numbers may only fall.
type allowance struct {
	comments int   // comment lines over maxCommentColumns
	code     int   // code lines over maxCodeColumns
	structs  []int // numbers of fields over maxStructFields, largest first
}

// allowances lists the directories that are over the limits today. Do not add to it.
var allowances = map[string]allowance{
	"cmd/agentctl":            {structs: []int{19}},
	"dialect":                 {structs: []int{21}},
	"protocol":                {code: 8, structs: []int{21, 20, 20}},
	"protocol/agentloop":      {code: 7},
	"protocol/effectiveagent": {code: 6},
	"protocol/multiagent":     {code: 3},
	"protocol/myagent":        {code: 2},
	"protocol/sandcastle":     {code: 5, structs: []int{26}},
	"server":                  {structs: []int{16}},
	"server/agent/script":     {structs: []int{19}},
	"server/session":          {structs: []int{17, 16}},
}

// violations returns one sentence for each rule that the files break.
func violations(files []file, allowed map[string]allowance) []string {
	var found []string
	for _, f := range files {
		found = append(found, importViolations(f)...)
		found = append(found, noIOViolations(f)...)
		if f.lines > maxFileLines && !f.test && !f.generated {
			found = append(found, fmt.Sprintf("%s: %d lines, more than %d", f.name, f.lines, maxFileLines))
		}
	}
	found = append(found, packageViolations(files)...)
	byDir := map[string][]file{}
	for _, f := range files {
		if !f.generated {
			byDir[f.dir()] = append(byDir[f.dir()], f)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		found = append(found, lineViolations(dir, byDir[dir], allowed[dir])...)
		found = append(found, structViolations(dir, byDir[dir], allowed[dir].structs)...)
	}
	return found
}

func lineViolations(dir string, files []file, allowed allowance) []string {
	var comments, code, found []string
	for _, f := range files {
		for _, n := range f.longComments {
			comments = append(comments, fmt.Sprintf("%s:%d", f.name, n))
		}
		for _, n := range f.longCode {
			code = append(code, fmt.Sprintf("%s:%d", f.name, n))
		}
	}
	if len(comments) > allowed.comments {
		found = append(found, fmt.Sprintf("%s: comment lines over %d columns: %d, more than %d: %s",
			dir, maxCommentColumns, len(comments), allowed.comments, firstOf(comments)))
	}
	if len(code) > allowed.code {
		found = append(found, fmt.Sprintf("%s: code lines over %d columns: %d, more than %d: %s",
			dir, maxCodeColumns, len(code), allowed.code, firstOf(code)))
	}
	return found
}

// firstOf joins the first positions; the number of all is in the message.
func firstOf(positions []string) string {
	const shown = 20
	if len(positions) > shown {
		positions = append(slices.Clip(positions[:shown]), "…")
	}
	return strings.Join(positions, " ")
}

// structViolations compares the largest structs of a directory with its allowances, largest first.
func structViolations(dir string, files []file, allowed []int) []string {
	if isTestPackage(dir) {
		return nil
	}
	var big []structType
	for _, f := range files {
		for _, s := range f.structs {
			if s.fields > maxStructFields && !f.test {
				big = append(big, s)
			}
		}
	}
	slices.SortStableFunc(big, func(a, b structType) int { return cmp.Compare(b.fields, a.fields) })
	var found []string
	for i, s := range big {
		limit := maxStructFields
		if i < len(allowed) {
			limit = allowed[i]
		}
		if s.fields > limit {
			found = append(found, fmt.Sprintf("%s: struct %s has %d fields, more than %d",
				dir, s.name, s.fields, limit))
		}
	}
	return found
}
