package diff

const (
	maxAlignPairs = 64        // pairs of lines compared to align a change
	maxAlignBytes = 128 << 10 // text of a piece compared by words
)

// pair is a removed line and the added line that replaces it, as indexes into the change's removed
// and added lines.
type pair struct{ removed, added int }

// align pairs removed lines with added lines, in order, so that the pairs have the most text in
// common, and sets their changed spans. In a large change, it pairs lines of equal index. Comparing
// two lines subtracts their size from budget. With the budget used up, no lines are compared.
func align(removed, added []row, budget *int) (out []pair) {
	type similarity struct {
		common       int // bytes in common
		inOld, inNew []span
	}
	compare := func(i, j int) similarity {
		if *budget -= len(removed[i].text) + len(added[j].text); *budget < 0 {
			return similarity{}
		}
		inOld, inNew, common := changedWords(removed[i].text, added[j].text)
		return similarity{common, inOld, inNew}
	}
	n, m := len(removed), len(added)
	if n*m > maxAlignPairs || n*m == 1 {
		for i := range min(n, m) {
			if s := compare(i, i); s.common > 0 {
				removed[i].changed, added[i].changed = s.inOld, s.inNew
				out = append(out, pair{i, i})
			}
		}
		return out
	}
	similar := make([]similarity, n*m)
	pairs := bestPairs(n, m, func(i, j int) int {
		similar[i*m+j] = compare(i, j)
		return similar[i*m+j].common
	})
	for _, p := range pairs {
		s := similar[p.removed*m+p.added]
		removed[p.removed].changed, added[p.added].changed = s.inOld, s.inNew
	}
	return pairs
}

// bestPairs pairs elements of two sequences of n and m elements, in order, so that the sum of the
// weights is the highest. It calls weight once for each of the n*m pairs. A pair of weight 0 is not
// used.
func bestPairs(n, m int, weight func(i, j int) int) (out []pair) {
	weights := make([]int, n*m)
	best := make([]int, (n+1)*(m+1)) // sum of the elements from i and from j, at i*(m+1)+j
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			w, at := weight(i, j), i*(m+1)+j
			weights[i*m+j] = w
			best[at] = max(best[at+1], best[at+m+1])
			if w > 0 {
				best[at] = max(best[at], w+best[at+m+2])
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		w, at := weights[i*m+j], i*(m+1)+j
		switch {
		case w > 0 && best[at] == w+best[at+m+2]:
			out = append(out, pair{i, j})
			i, j = i+1, j+1
		case best[at] == best[at+m+1]:
			i++
		default:
			j++
		}
	}
	return out
}
