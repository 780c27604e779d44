package diff

// maxEdits bounds the differences that Compare searches for. Parts that differ more are replaced as
// a whole.
const maxEdits = 600

// myers marks the longest common subsequence of a and b (Myers, "An O(ND) Difference Algorithm").
// If they differ in more than limit places, ok is false and only their common start and end are
// marked. It takes time and space O(limit²) and one pass over a and b.
func myers(a, b []int, limit int) (inA, inB []bool, ok bool) {
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		inA[head], inB[head] = true, true
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
		inA[len(a)-tail], inB[len(b)-tail] = true, true
	}
	a, b = a[head:len(a)-tail], b[head:len(b)-tail]
	if len(a) == 0 || len(b) == 0 {
		return inA, inB, true
	}
	paths, d := furthestPaths(a, b, min(limit, len(a)+len(b)))
	if paths == nil {
		return inA, inB, false
	}
	x, y := len(a), len(b)
	for ; d > 0; d-- {
		v, k := paths[d-1], x-y
		from := k - 1
		if k == -d || k != d && v[d-1+k-1] < v[d-1+k+1] {
			from = k + 1
		}
		px := v[d-1+from]
		py := px - from
		for x > px && y > py && x > 0 && y > 0 && a[x-1] == b[y-1] {
			x, y = x-1, y-1
			inA[head+x], inB[head+y] = true, true
		}
		x, y = px, py
	}
	for x > 0 && y > 0 {
		x, y = x-1, y-1
		inA[head+x], inB[head+y] = true, true
	}
	return inA, inB, true
}

// furthestPaths returns, for each number of edits up to the minimum d, the furthest index in a on
// each diagonal: paths[d][d+k] for diagonal k. It returns nil if d is more than limit.
func furthestPaths(a, b []int, limit int) (paths [][]int, d int) {
	var last []int // paths[d-1]
	for d = 0; d <= limit; d++ {
		v := make([]int, 2*d+1)
		for k := -d; k <= d; k += 2 {
			x := 0
			switch {
			case d == 0:
			case k == -d || k != d && last[d-1+k-1] < last[d-1+k+1]:
				x = last[d-1+k+1]
			default:
				x = last[d-1+k-1] + 1
			}
			y := x - k
			for x < len(a) && y < len(b) && y >= 0 && a[x] == b[y] {
				x, y = x+1, y+1
			}
			v[d+k] = x
			if x >= len(a) && y >= len(b) {
				return append(paths, v), d
			}
		}
		paths, last = append(paths, v), v
	}
	return nil, 0
}
