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
func align(removed, added []row, budget *int) []pair {
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
	accept := func(i, j int, s similarity) pair {
		removed[i].changed, added[j].changed = s.inOld, s.inNew
		return pair{i, j}
	}
	var out []pair
	n, m := len(removed), len(added)
	if n*m > maxAlignPairs || n*m == 1 {
		for i := range min(n, m) {
			if s := compare(i, i); s.common > 0 {
				out = append(out, accept(i, i, s))
			}
		}
		return out
	}
	similar := make([]similarity, n*m)
	best := make([][]int, n+1) // bytes in common of removed[i:] and added[j:]
	for i := range best {
		best[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			s := compare(i, j)
			similar[i*m+j] = s
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if s.common > 0 {
				best[i][j] = max(best[i][j], s.common+best[i+1][j+1])
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch s := similar[i*m+j]; {
		case s.common > 0 && best[i][j] == s.common+best[i+1][j+1]:
			out = append(out, accept(i, j, s))
			i, j = i+1, j+1
		case best[i][j] == best[i+1][j]:
			i++
		default:
			j++
		}
	}
	return out
}
