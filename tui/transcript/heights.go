package transcript

// heights is a Fenwick tree of item heights. push, set and before cost O(log n), at O(1).
type heights struct {
	tree  []int // 1-based: tree[0] is unused
	value []int
}

func (h *heights) at(i int) int { return h.value[i] }

func (h *heights) push(v int) {
	if len(h.tree) == 0 {
		h.tree = append(h.tree, 0)
	}
	h.value = append(h.value, v)
	n := len(h.value)
	sum := v
	for low := 1; low < n&-n; low <<= 1 {
		sum += h.tree[n-low]
	}
	h.tree = append(h.tree, sum)
}

func (h *heights) set(i, v int) {
	d := v - h.value[i]
	if d == 0 {
		return
	}
	h.value[i] = v
	for i++; i < len(h.tree); i += i & -i {
		h.tree[i] += d
	}
}

// before returns the sum of the first i heights.
func (h *heights) before(i int) int {
	sum := 0
	for ; i > 0; i &= i - 1 {
		sum += h.tree[i]
	}
	return sum
}

func (h *heights) total() int { return h.before(len(h.value)) }
