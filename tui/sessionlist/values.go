package sessionlist

// Value is what a column shows of a session.
type Value uint8

// The values.
const (
	Agent Value = iota
	Directory
	Queue
	Tokens
	Cost

	byGroup   // of the listed sessions
	bySection // as sectionKey

	valueCount = int(bySection) + 1
)

// values counts the sessions with each value, so that a column whose cells are all equal is known
// without a look at every session.
type values [valueCount]map[any]int

func newValues() (v values) {
	for i := range v {
		v[i] = map[any]int{}
	}
	return v
}

// count adds n to the counts of the values of a row in an order.
func (v *values) count(r *row, by Order, n int) {
	for i, value := range [valueCount]any{
		r.Summary.Agent, r.CWD, r.Summary.Queue, r.Summary.Tokens, r.Summary.Cost, r.group(), r.sectionKey(by),
	} {
		if v[i][value] += n; v[i][value] == 0 {
			delete(v[i], value)
		}
	}
}

// Differ reports whether the listed sessions have more than one value.
func (l *List) Differ(v Value) bool { return len(l.values[v]) > 1 }
