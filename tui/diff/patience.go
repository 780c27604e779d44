package diff

import "slices"

// commonElements marks what two sequences have in common, in order. Of those that differ
// in more places than the limit, what stands once in both is taken for the same, as far as
// it is in one order (Cohen's patience difference), and only what lies between is
// compared. It takes room and time in proportion to their length.
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

// match is a line at one place in each of two sequences.
type match struct{ a, b int }

// uniqueCommon are the most lines that stand once in either sequence and are in the
// same order in both.
func uniqueCommon(a, b []int) []match {
	const twice = -1
	once := func(s []int) map[int]int {
		at := make(map[int]int, len(s))
		for i, id := range s {
			if _, seen := at[id]; seen {
				i = twice
			}
			at[id] = i
		}
		return at
	}
	inA, inB := once(a), once(b)
	var found []match
	before := []int{} // in found, of each of it, the one it goes after; or -1
	ends := []int{}   // in found, the last of the best sequence of each length
	for i, id := range a {
		k, ok := inB[id]
		if !ok || k == twice || inA[id] == twice {
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
