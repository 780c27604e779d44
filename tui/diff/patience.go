package diff

import "slices"

// commonElements marks a common subsequence of a and b. If they differ in more than limit places,
// it matches elements unique in both (Cohen's patience diff) and compares only the parts between
// them. Time and space are linear in the length of a and b.
func commonElements(a, b []int, limit int) (inA, inB []bool) {
	inA, inB, ok := myers(a, b, limit)
	if ok {
		return inA, inB
	}
	pairs := uniqueCommon(a, b)
	if len(pairs) == 0 {
		return inA, inB
	}
	pairs = append(pairs, match{len(a), len(b)})
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	from := match{}
	for _, to := range pairs {
		subA, subB, _ := myers(a[from.a:to.a], b[from.b:to.b], limit)
		copy(inA[from.a:], subA)
		copy(inB[from.b:], subB)
		if to.a < len(a) {
			inA[to.a], inB[to.b] = true, true
		}
		from = match{to.a + 1, to.b + 1}
	}
	return inA, inB
}

// match is the indexes of an element in two sequences.
type match struct{ a, b int }

// uniqueCommon returns the longest common subsequence of the elements that occur once in a and once
// in b.
func uniqueCommon(a, b []int) []match {
	const repeated = -1
	indexes := func(s []int) map[int]int {
		at := make(map[int]int, len(s))
		for i, id := range s {
			if _, seen := at[id]; seen {
				i = repeated
			}
			at[id] = i
		}
		return at
	}
	inA, inB := indexes(a), indexes(b)
	var found []match
	before := []int{} // predecessor of found[i] in its subsequence, or -1
	ends := []int{}   // index in found of the last match of the best subsequence of each length
	for i, id := range a {
		k, ok := inB[id]
		if !ok || k == repeated || inA[id] == repeated {
			continue
		}
		n, _ := slices.BinarySearchFunc(ends, k, func(at, k int) int { return found[at].b - k })
		last := -1
		if n > 0 {
			last = ends[n-1]
		}
		found, before = append(found, match{i, k}), append(before, last)
		if n == len(ends) {
			ends = append(ends, 0)
		}
		ends[n] = len(found) - 1
	}
	var out []match
	if len(ends) > 0 {
		for at := ends[len(ends)-1]; at >= 0; at = before[at] {
			out = append(out, found[at])
		}
	}
	slices.Reverse(out)
	return out
}
