package diff

// maxAlignPairs is how many pairs of lines are compared to find out which one became
// which.
const maxAlignPairs = 64

// maxAlignBytes is how much text a piece compares by words.
const maxAlignBytes = 128 << 10

// pair is a line that was removed and the one it became, by their places in their
// stretches.
type pair struct{ removed, added int }

// align finds which of the lines that are removed became which of those that are
// added, in order, and notes what differs in them. Of two long stretches it takes
// the lines at the same places. Each comparison takes from the budget, and without
// one nothing is compared.
func align(removed, added []row, budget *int) []pair {
	type likeness struct {
		kept     int
		old, new []span
	}
	compare := func(i, j int) likeness {
		if *budget -= len(removed[i].text) + len(added[j].text); *budget < 0 {
			return likeness{}
		}
		old, text, kept := changedWords(removed[i].text, added[j].text)
		return likeness{kept, old, text}
	}
	take := func(i, j int, l likeness) pair {
		removed[i].changed, added[j].changed = l.old, l.new
		return pair{i, j}
	}
	var out []pair
	n, m := len(removed), len(added)
	if n*m > maxAlignPairs || n == m && n*m == 1 {
		for i := range min(n, m) {
			if l := compare(i, i); l.kept > 0 {
				out = append(out, take(i, i, l))
			}
		}
		return out
	}
	like := make([]likeness, n*m)
	best := make([][]int, n+1) // what is kept from i and j on
	for i := range best {
		best[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			l := compare(i, j)
			like[i*m+j] = l
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if l.kept > 0 {
				best[i][j] = max(best[i][j], l.kept+best[i+1][j+1])
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch l := like[i*m+j]; {
		case l.kept > 0 && best[i][j] == l.kept+best[i+1][j+1]:
			out = append(out, take(i, j, l))
			i, j = i+1, j+1
		case best[i][j] == best[i+1][j]:
			i++
		default:
			j++
		}
	}
	return out
}
