package diff

// maxEdits is how many differences are looked for at most. Stretches that differ in
// more are replaced as a whole.
const maxEdits = 600

// myers marks what two sequences have in common, in order (Myers, "An O(ND)
// difference algorithm"). It is false, and nothing is marked, when they differ in
// more than limit places. It takes limit² room and time, and one pass.
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

// furthestPaths gives, for each number of differences up to the least one needed, how far
// along a every diagonal gets: the diagonal k of d differences at d+k.
func furthestPaths(a, b []int, limit int) (paths [][]int, d int) {
	var last []int // of d-1, its diagonal k at d-1+k
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
