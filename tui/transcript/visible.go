package transcript

// Width returns the number of columns of the window.
func (v *viewport) Width() int { return v.width }

// VisitVisible calls visit for each item with lines in the window, with the range of these lines.
func (v *viewport) VisitVisible(visit func(id ID, from, to int)) {
	if v.Len() == 0 {
		return
	}
	v.normalize()
	left := v.height
	for id, line := v.top.Item, v.top.Line; left > 0 && id <= v.Last(); id, line = id+1, 0 {
		if to := min(v.block(id).height(), line+left); line < to {
			visit(id, line, to)
			left -= to - line
		}
	}
}
